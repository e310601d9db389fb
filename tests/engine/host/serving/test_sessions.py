"""Do sessions' coordinators hear what is for them over the socket, each once, and nobody else?"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from runwright import ConflictError, Context, Workflow
from runwright.engine.client import AsyncClient
from runwright.engine.host.serving import sessions
from runwright.engine.protocol.errors import HostUnavailable, MessageInvalid
from runwright.engine.protocol.limits import INLINE
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.message import MessageQueued
from support.engines import until
from support.raw_client import RawClient
from support.serving import Served, served
from support.socket_session import SocketSession, speaking
from support.stage import TestClock
from support.stores import appending


def speaks(presentation: str | None = "Say it.") -> Workflow[Any]:
    """A workflow whose end is told."""
    workflow: Workflow[Any] = Workflow("speaks", presentation=presentation)

    def one(ctx: Context[Any]) -> int:
        """A number."""
        return 1

    workflow.entry(workflow.compute(one))
    return workflow


async def ended(host: Served, pi: SocketSession, workflow: Workflow[Any]) -> str:
    """A run of the session that has ended, and whose message stands."""
    run_id = await host.engine.start(workflow, {}, session=pi.session)
    await pi.settle()
    await host.engine.wait(run_id)

    async def prepared() -> bool:
        return (await host.engine.status(run_id)).presentation.state == "prepared"

    await until(prepared)
    return run_id


async def delivered(host: Served) -> list[str]:
    """The messages that were handed out, in order."""
    return [json.loads(each.data)["message"] for each in await host.engine.events(types=["message.delivered"])]


async def test_an_end_is_told_and_its_turn_is_answered(tmp_path: Path) -> None:
    """Boundary, evidence, delivery, turn: the whole of it over the socket."""
    workflow = speaks()
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home) as pi:
        run_id = await ended(host, pi, workflow)
        current = await pi.receive(f"terminal:{run_id}")
        assert (current["kind"], current["run_id"], current["starts_turn"]) == ("terminal", run_id, True)
        assert current["text"]["inline"]
        assert current["text"]["value"].endswith("Say it.")
        assert current["content"]["value"]["messageId"] == current["message"]
        receipt = await pi.begin(current["message"], run_id)
        assert receipt["schema"] == "runwright.turn-receipt.v1"
        assert (receipt["ownership"], receipt["turn"]["run_id"], receipt["turn"]["state"]) == ("active", None, "open")
        assert (await pi.view())["turn"] == receipt["turn"]
        for _ in range(2):
            receipt = await pi.end(text="Done.", entry="entry-9")
            assert (receipt["ownership"], receipt["turn"]["stop_reason"]) == ("settled", "completed")
        with pytest.raises(ConflictError):
            await pi.end("error")
        assert (await pi.begin("terminal:other", run_id))["ownership"] == "absent"
        view = await pi.view()
        assert (view["current"], view["turn"], view["pending"], view["wake_ups"]) == (None, None, 0, 1)


async def test_a_delivery_is_committed_before_its_frame_leaves(tmp_path: Path) -> None:
    """The frame that says `deliver` finds its event in the log already, and no other frame says so."""
    workflow = speaks()
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home) as pi:
        run_id = await ended(host, pi, workflow)
        message = f"terminal:{run_id}"
        assert (await pi.view())["current"]["deliver"] is False
        assert await delivered(host) == []
        await pi.handed(message)
        assert await delivered(host) == [message]
        await pi.report(message)
        await pi.settle()
        assert (await pi.client.session_view("s1", pi.epoch))["current"]["deliver"] is False
        assert await delivered(host) == [message]


async def test_nobody_is_handed_a_message_who_only_looks(tmp_path: Path) -> None:
    """Without an epoch a view says what is current, and that is all."""
    workflow = speaks()
    async with (
        served(tmp_path / "home", [workflow]) as host,
        speaking(host.home, attach=False) as pi,
        await AsyncClient.connect(host.home, client="cli") as person,
    ):
        pi.epoch = (await pi.client.session_attach("s1", agent="tests"))["epoch"]
        looks = person.session_subscribe("s1")
        first = await anext(looks)
        assert (first["session"], first["epoch"], first["current"]) == ("s1", pi.epoch, None)
        message = f"terminal:{await ended(host, pi, workflow)}"
        async for view in looks:
            if view["current"] is not None:
                break
        await pi.report(message)
        assert (await pi.view())["current"]["deliver"] is False
        assert (view["current"]["message"], view["current"]["deliver"]) == (message, False)
        assert view["current"]["text"]["inline"] is False
        assert await delivered(host) == []
        # The coordinator, asking once, is.
        assert (await pi.client.session_view("s1", pi.epoch))["current"]["deliver"] is True
        assert (await person.session_view("nobody-yet"))["epoch"] is None


async def test_an_older_epoch_can_do_nothing(tmp_path: Path) -> None:
    """C33: whoever attaches last has the session; the one before is told so, whatever it says, and follows no more."""
    workflow = speaks()
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home) as old:
        run_id = await ended(host, old, workflow)
        message = f"terminal:{run_id}"
        async with speaking(host.home) as new:
            before = host.holder.reader.head()
            for told in (old.settle, lambda: old.client.session_view("s1", old.epoch)):
                with pytest.raises(ConflictError) as fenced:
                    await told()
                assert (fenced.value.code, fenced.value.evidence["reason"]) == ("claim_lost", "owner_changed")
            assert host.holder.reader.head() == before
            with pytest.raises(ConflictError) as ended_with:
                await old.rest()
            assert ended_with.value.code == "claim_lost"
            with pytest.raises(ConflictError):
                await anext(old.client.session_subscribe("s1", old.epoch))
            await new.receive(message)
            await new.client.session_detach("s1", new.epoch)
            with pytest.raises(ConflictError) as gone:
                await new.settle()
            assert gone.value.evidence["reason"] == "missing"
        assert await delivered(host) == [message]


async def test_a_refusal_of_the_older_epoch_is_named_on_the_wire(tmp_path: Path) -> None:
    """Its reply has the outcome `claim_lost`; a model of another session is no coordinator of this one."""
    async with served(tmp_path / "home") as host:
        client = await RawClient.open(host.server.path)
        for number in (1, 2):
            await client.call("session.attach", f"a{number}", payload={"session": "s1", "agent": "tests"})
        epoch = (await client.reply("a1"))["answer"]["epoch"]
        await client.call("session.settled", "b", payload={"session": "s1", "epoch": epoch})
        reply = await client.reply("b")
        assert (reply["outcome"], reply["error"]["code"], reply["receipt"]) == ("claim_lost", "claim_lost", None)
        await client.close()
        async with await AsyncClient.connect(host.home, client="pi:s2") as other:
            with pytest.raises(MessageInvalid):
                await other.session_attach("s1", agent="tests")


async def test_a_lost_frame_is_handed_out_again_in_a_new_epoch(tmp_path: Path) -> None:
    """S61: sent or not, nobody knows: the next epoch looks first, and is handed it only where it is absent."""
    workflow = speaks()
    async with served(tmp_path / "home", [workflow]) as host:
        async with speaking(host.home) as pi:
            message = f"terminal:{await ended(host, pi, workflow)}"
            await pi.handed(message)
        for shows in (False, True):
            async with speaking(host.home, branch=[message] if shows else []) as again:
                await again.report(message, idle=False)
                current = (await again.view())["current"]
                assert (current is None) is shows
                if not shows:
                    assert current["state"] == "pending"
                    await again.handed(message)
        assert await delivered(host) == [message, message]
        rows = (await host.engine.query("messages")).items
        assert [(row["state"], row["deliveries"]) for row in rows] == [("sent", 2)]


async def test_what_waits_for_evidence_is_shown_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own absence proves nothing for a while; then the host asks again, though nothing has happened."""
    monkeypatch.setattr(sessions, "EVIDENCE_PAUSE", 0.05)
    workflow = speaks()
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home) as pi:
        message = f"terminal:{await ended(host, pi, workflow)}"
        await pi.handed(message)
        await missing(pi, message)
        assert await delivered(host) == [message]


async def test_what_is_missing_after_a_minute_is_handed_out_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a second earlier, and not a third time."""
    monkeypatch.setattr(sessions, "EVIDENCE_PAUSE", 0.02)
    workflow, clock = speaks(None), TestClock()
    async with served(tmp_path / "home", [workflow], clock=clock) as host, speaking(host.home) as pi:
        message = f"terminal:{await ended(host, pi, workflow)}"
        for times in (1, 2):
            await pi.handed(message)
            clock.advance(59)
            await missing(pi, message)
            assert await delivered(host) == [message] * times
            clock.advance(2)
        for _ in range(3):
            await pi.report(message)
            assert (await pi.view())["current"] is None
            clock.advance(61)
        assert await delivered(host) == [message] * 2


async def missing(pi: SocketSession, message: str) -> None:
    """Look for a message whenever the host asks about it, and not find it."""
    for _ in range(3):
        current = (await pi.next())["current"]
        assert (current["message"], current["deliver"]) == (message, False)
        await pi.report(message)


async def test_a_coordinator_whose_host_is_gone_attaches_anew(tmp_path: Path) -> None:
    """Its views end with the connection, and its epoch is that of the log: the next host knows it."""
    workflow = speaks(None)
    async with served(tmp_path / "home", [workflow]) as host:
        client = await AsyncClient.connect(host.home, client="pi:s1", patience=0.1)
        pi = await SocketSession(client).attach()
        await pi.next()
        message = f"terminal:{await ended(host, pi, workflow)}"
        await pi.handed(message)
    with pytest.raises(HostUnavailable):
        await pi.rest()
    async with served(tmp_path / "home", [workflow]) as host:
        view = await client.session_view("s1")
        assert (view["epoch"], view["current"]) == (pi.epoch, None)
        # Who says which epoch it is of is heard; in a new one it is handed the message at once.
        assert (await client.session_view("s1", pi.epoch))["current"]["message"] == message
        await pi.attach()
        assert (await pi.handed())["message"] == message
        await pi.close()
        await client.close()


@pytest.mark.parametrize("text", ["\x01", '"', "é", "\n"], ids=ascii)
async def test_a_session_view_stays_small(tmp_path: Path, text: str) -> None:
    """As small as a value may be that stands in it, and whatever it looks like as JSON; what does not fit is read."""
    workflow = speaks(None)
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home) as pi:
        run_id = await host.engine.start(workflow, {}, session="s1", drive=False)
        value = text * (INLINE // len(text.encode()))
        messages = [
            MessageQueued(
                message=f"notification:{run_id}:{number}",
                kind="notification",
                session="s1",
                order=number,
                source=run_id,
                starts_turn=False,
                content=Content.json({"value": said}),
                text=Content.text(said),
            )
            for number, said in enumerate((value, value[: len(value) // 8]))
        ]
        await asyncio.wrap_future(host.holder.log.transact(appending(f"run/{run_id}", *messages)))
        for said in (value, value[: len(value) // 8]):
            current = await pi.receive()
            assert len(json.dumps({"current": current}, ensure_ascii=False).encode()) < 48 * 1024
            assert await pi.client.content_read(current["text"]) == said
            assert await pi.client.content_read(current["content"]) == {"value": said}
        assert current["text"]["inline"]
