"""Is a coordinator whose program has died taken for gone, and does one that only lost its connection lose nothing?"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.client import AsyncClient
from runwright.engine.errors import AnswerRejected, ConflictError
from runwright.engine.host.serving import bounds
from support.conversing import asks, delivered, rows, submit
from support.serving import Served, served
from support.socket_session import PATIENCE, SocketSession, speaking


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is waited for long."""
    monkeypatch.setattr(bounds, "ABSENCE", 0.05)


async def becomes(host: Served, run_id: str, word: str) -> None:
    """Wait until a run is shown so."""
    async with asyncio.timeout(PATIENCE):
        while (await host.engine.status(run_id)).status != word:
            await asyncio.sleep(0.01)


async def words(host: Served, session: str = "s1") -> list[str]:
    """What was written about a session's coordinators."""
    found = await host.engine.events(types=["session.attached", "session.detached"])
    return [each.type.partition(".")[2] for each in found if each.stream == f"session/{session}"]


async def at_work(host: Served, pi: SocketSession) -> tuple[str, dict[str, Any]]:
    """A run whose session has begun a turn for it, and the message of that."""
    run_id = await host.engine.start(asks("first"), {}, session=pi.session)
    await pi.settle()
    message = await pi.receive()
    receipt = await pi.begin(message["message"], run_id)
    assert receipt["ownership"] == "active"
    assert (await host.engine.status(run_id)).status == "running"
    return run_id, message


async def lost(pi: SocketSession) -> None:
    """Lose every connection of an adapter, as where its program ends; its client makes a new one for its next word."""
    await pi.close()
    await pi.client.close()


async def test_a_killed_adapter_shows_no_run_at_work(tmp_path: Path) -> None:
    """Its turn stays open, nobody knows its end; a new adapter finds it so, and tells that end."""
    async with served(tmp_path / "home", [asks("first")]) as host, speaking(host.home) as pi:
        run_id, message = await at_work(host, pi)
        assert pi.turn is not None
        turn, _, _ = pi.turn
        await lost(pi)
        await becomes(host, run_id, "waiting")
        assert await words(host) == ["attached", "detached"]
        async with speaking(host.home, branch=pi.branch) as new:
            assert [each["state"] for each in await rows(new, "turns")] == ["open"]
            with pytest.raises(ConflictError) as fenced:
                await pi.settle()
            assert fenced.value.evidence["reason"] == "owner_changed"
            # Before the answer: a run that ends meanwhile leaves its open turn without an end.
            receipt = await new.client.turn_ended(
                "s1", new.epoch, turn=turn, message=message["message"], run_id=run_id, stop_reason="completed"
            )
            assert receipt["ownership"] == "settled"
            assert [each["state"] for each in await rows(new, "turns")] == ["ended"]
            await submit(new, message, "fine")
        assert (await host.engine.wait(run_id)).status == "completed"
        assert await words(host) == ["attached", "detached", "attached"]


async def _submit(pi: SocketSession, message: dict[str, Any]) -> None:
    await submit(pi, message, "fine")


async def _refused(pi: SocketSession, message: dict[str, Any]) -> None:
    with pytest.raises(AnswerRejected):
        await submit(pi, message, "far too long")


async def _end(pi: SocketSession, _: dict[str, Any]) -> None:
    assert (await pi.end())["ownership"] == "settled"


async def _busy(pi: SocketSession, message: dict[str, Any]) -> None:
    await pi.report(message["message"], idle=False)


async def _look(pi: SocketSession, _: dict[str, Any]) -> None:
    assert (await pi.client.session_view("s1", pi.epoch))["epoch"] == pi.epoch


@pytest.mark.parametrize("word", [_submit, _refused, _end, _busy, _look])
async def test_whatever_it_says_next_brings_a_missed_one_back(
    tmp_path: Path, word: Callable[[SocketSession, dict[str, Any]], Awaitable[None]]
) -> None:
    """In its own epoch, as if it had never been away: its turn is open still, and its message was handed out once."""
    async with served(tmp_path / "home", [asks("first")]) as host, speaking(host.home) as pi:
        run_id, message = await at_work(host, pi)
        await lost(pi)
        await becomes(host, run_id, "waiting")
        # A tool of its agent has to learn the epoch somewhere.
        async with await AsyncClient.connect(host.home, client="tool") as tool:
            assert (await tool.session_view("s1"))["epoch"] == pi.epoch
        await word(pi, message)
        assert await words(host) == ["attached", "detached", "attached"]
        if word in (_refused, _busy, _look):
            assert (await host.engine.status(run_id)).status == "running", "it is there, and at its turn"
            await lost(pi)
            await becomes(host, run_id, "waiting")  # gone once more
            await _submit(pi, message)
        if word is _end:
            await _submit(pi, message)
        assert (await host.engine.wait(run_id)).status == "completed"
        assert await delivered(host) == [message["message"]], "it follows no more, so of the end it hears nothing"


async def test_nobody_is_missed_while_one_connection_is_left(tmp_path: Path) -> None:
    """Nor is one without a turn: a hook comes for a moment at a time, and its agent's tools speak in between."""
    async with (
        served(tmp_path / "home", [asks("first")]) as host,
        speaking(host.home, "s1") as whole,
        speaking(host.home, "s2") as resting,
        speaking(host.home, "s3") as killed,
        await AsyncClient.connect(host.home, client="tool") as tool,
    ):
        run_id, _ = await at_work(host, whole)
        waits = await host.engine.start(asks("first"), {}, session="s2")
        await resting.settle()
        await resting.receive()
        other, _ = await at_work(host, killed)
        await tool.session_view("s1", whole.epoch)
        await lost(whole)
        await lost(resting)
        await lost(killed)
        await becomes(host, other, "waiting")
        assert (await words(host, "s1"), await words(host, "s2")) == (["attached"], ["attached"])
        assert [(await host.engine.status(each)).status for each in (run_id, waits)] == ["running", "waiting"]


async def test_the_next_host_misses_who_does_not_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever speaks on in its epoch is there; the other's run is shown at work no longer."""
    home, workflow = tmp_path / "home", asks("first")
    monkeypatch.setattr(bounds, "ABSENCE", 2 * PATIENCE)
    async with served(home, [workflow]) as host, speaking(home, "s1") as back, speaking(home, "s2") as killed:
        first, message = await at_work(host, back)
        second, _ = await at_work(host, killed)
        for each in (back, killed):
            await lost(each)
    monkeypatch.setattr(bounds, "ABSENCE", 0.3)
    async with served(home, [workflow]) as host:
        await back.report(message["message"], idle=False)
        await becomes(host, second, "waiting")
        assert (await host.engine.status(first)).status == "running"
        assert await words(host, "s2") == ["attached", "detached"]
        await submit(back, message, "fine")
        assert (await host.engine.wait(first)).status == "completed"
        await back.client.close()


async def test_one_that_has_left_does_not_come_back_by_a_word(tmp_path: Path) -> None:
    """It said so itself, missed or not; it attaches anew."""
    async with served(tmp_path / "home", [asks("first")]) as host, speaking(host.home) as pi:
        run_id, message = await at_work(host, pi)
        await lost(pi)
        await becomes(host, run_id, "waiting")
        await pi.client.session_detach("s1", pi.epoch)
        with pytest.raises(ConflictError) as gone:
            await pi.report(message["message"])
        assert gone.value.evidence["reason"] == "missing"
        assert (await pi.view())["epoch"] is None
        assert await words(host) == ["attached", "detached"]
