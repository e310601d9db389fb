"""C30: does each message reach its session once, whatever branch the agent goes to, also where its adapter reloads?"""

from pathlib import Path
from typing import Any

import pytest

from runwright.engine.client import AsyncClient
from support.conversing import asks, check_once, delivered, rows, submit, talking
from support.serving import Served
from support.socket_session import SocketSession, speaking
from support.sound import check_sound

TYPED = "typed-by-a-person"


async def answer(pi: SocketSession, message: dict[str, Any], value: str) -> None:
    """Take a whole turn for a message that the branch shows, and hand an answer in."""
    await pi.report(message["message"], idle=False)
    assert (await pi.begin(message["message"], message["run_id"]))["ownership"] == "active"
    await submit(pi, message, value)
    await pi.end()
    await pi.settle()


async def show(pi: SocketSession) -> dict[str, Any]:
    """Be handed the next message, and show it."""
    message = await pi.handed()
    pi.branch.append(message["message"])
    return message


async def check(host: Served, pi: SocketSession, run_id: str, turns: list[str]) -> None:
    """The run goes on to its end, which is told; each step was accepted, each message sent, each turn over, once."""
    last = await show(pi)
    assert last["content"]["value"]["node"] == "last"
    await pi.report(last["message"], idle=False)
    # A person answers it: a turn that goes on would be lost with the end of its run, now and then.
    await host.engine.submit(last["content"]["value"]["requestId"], "done")
    terminal = await show(pi)
    assert terminal["message"] == f"terminal:{run_id}"
    await pi.report(terminal["message"])
    assert await pi.client.run_output(run_id) == "done"
    assert [row["state"] for row in await rows(pi, "requests")] == ["accepted"] * 3
    assert {(row["state"], row["deliveries"]) for row in await rows(pi, "messages")} == {("sent", 1)}
    assert [row["state"] for row in await rows(pi, "turns")] == turns
    assert (await pi.view())["pending"] == 0
    await check_once(host)


async def reach(pi: SocketSession, run_id: str, point: str) -> dict[str, Any]:
    """Go with the first step as far as it says."""
    message = await pi.handed()
    if point == "handed":
        return message
    pi.branch.append(message["message"])
    await pi.report(message["message"], idle=False)
    if point == "shown":
        return message
    await pi.begin(message["message"], run_id)
    if point == "answered":
        await submit(pi, message, "fine")
        await pi.end()
    return message


@pytest.mark.parametrize("returns", [False, True], ids=["stays", "returns"])
@pytest.mark.parametrize(
    ("point", "again", "turns"),
    [
        ("handed", False, ["ended", "ended"]),
        ("shown", True, ["ended", "ended"]),
        ("in its turn", True, ["lost", "ended", "ended"]),
        ("answered", False, ["ended", "ended"]),
    ],
)
async def test_a_fork_loses_and_doubles_nothing(
    tmp_path: Path, point: str, again: bool, turns: list[str], returns: bool
) -> None:
    """Only a step that was sent and has left the branch unanswered is asked for anew, under another ID, once.

    One that was handed out and does not show yet is still to come; one that was answered needs nobody any more.
    """
    async with talking(tmp_path, asks("first", "second", "last")) as (host, pi, run_id):
        pi.branch.append(TYPED)
        message = await reach(pi, run_id, point)
        left = pi.fork(before=TYPED)
        for _ in range(3):
            await pi.report(message["message"])
        if returns:
            pi.return_to(left)
            await pi.report(message["message"])
        if point == "handed":
            assert [row["state"] for row in await rows(pi, "messages")] == ["pending"]
            pi.branch.append(message["message"])  # late, and on another branch
        step = await show(pi) if again else message
        if point != "answered":
            await answer(pi, step, "fine")
        second = await show(pi)
        assert second["content"]["value"]["node"] == "second"
        await answer(pi, second, "good")
        steps = [message, step, second] if again else [message, second]
        assert await delivered(host) == [each["message"] for each in steps]
        assert (step["content"]["value"]["reason"] == "resumed") is again
        assert {row["unproductive"] for row in await rows(pi, "requests")} == {0}
        await check(host, pi, run_id, turns)
    check_sound(tmp_path / "home")


@pytest.mark.parametrize(("point", "turns"), [("shown", ["ended"] * 2), ("in its turn", ["lost", "ended", "ended"])])
async def test_who_attaches_after_a_fork_is_asked_anew(tmp_path: Path, point: str, turns: list[str]) -> None:
    """An adapter that remembers no message need not say which one its branch has lost."""
    async with talking(tmp_path, asks("first", "second", "last")) as (host, pi, run_id):
        pi.branch.append(TYPED)
        message = await reach(pi, run_id, point)
        pi.fork(before=TYPED)
        await pi.attach(rests=True)
        again = await show(pi)
        assert (again["content"]["value"]["reason"], again["message"] == message["message"]) == ("resumed", False)
        await answer(pi, again, "fine")
        await answer(pi, await show(pi), "good")
        await check(host, pi, run_id, turns)


@pytest.mark.parametrize("forked", [False, True])
async def test_c30_a_resumed_step_and_the_one_after_it_arrive(tmp_path: Path, forked: bool) -> None:
    """Also where the branch shows it late, or another branch does: reports about the old one cancel nothing."""
    async with talking(tmp_path, asks("first", "second", "last")) as (host, pi, run_id):
        pi.branch.append(TYPED)
        old = await reach(pi, run_id, "in its turn")
        await pi.end("aborted")
        await pi.client.run_resume(run_id)
        await pi.report(old["message"])
        fresh = await pi.handed()
        if forked:
            pi.fork(before=TYPED)
        for message in (old, fresh, old, fresh):
            await pi.report(message["message"])
        (row,) = await rows(pi, "messages", message=fresh["message"])
        assert (row["state"], row["deliveries"]) == ("pending", 1)
        pi.branch.append(fresh["message"])
        await answer(pi, fresh, "fine")
        second = await show(pi)
        await answer(pi, second, "good")
        assert await delivered(host) == [each["message"] for each in (old, fresh, second)]
        await check(host, pi, run_id, ["ended"] * 3)


async def test_a_copied_branch_is_another_session(tmp_path: Path) -> None:
    """A fork under a new session ID takes the entries along: what it says of them is said of nothing."""
    async with talking(tmp_path, asks("first", "second", "last")) as (host, pi, run_id):
        message = await reach(pi, run_id, "shown")
        async with speaking(host.home, "s2", branch=list(pi.branch)) as copy:
            before = host.holder.log.head().position
            await copy.report(message["message"])
            assert (await copy.begin(message["message"], run_id))["ownership"] == "absent"
            assert (await copy.view())["current"] is None
            assert host.holder.log.head().position == before
        await answer(pi, message, "fine")
        await answer(pi, await show(pi), "good")
        await check(host, pi, run_id, ["ended"] * 2)


@pytest.mark.parametrize("how", ["goes on", "ended meanwhile", "rests"])
async def test_an_adapter_reloads_in_an_open_turn(tmp_path: Path, how: str) -> None:
    """The new epoch finds the turn open: it may end it by its ID; only rest ends it as lost."""
    async with talking(tmp_path, asks("first", "second", "last")) as (host, pi, run_id):
        message = await reach(pi, run_id, "in its turn")
        turn = (await pi.view())["turn"]["turn"]
        async with speaking(host.home, branch=pi.branch) as new:
            current = (await new.next())["current"]
            assert (current["message"], current["deliver"]) == (message["message"], False)
            await new.report(message["message"], idle=False)
            assert (await new.view())["turn"]["turn"] == turn
            new.turn, new.busy = (turn, message["message"], run_id), True
            if how == "rests":
                new.busy = False
                await new.report(message["message"])
                again = await show(new)
                assert again["content"]["value"]["reason"] == "reminder"
                await answer(new, again, "fine")
            else:
                if how == "goes on":
                    assert (await new.begin(message["message"], run_id, turn=turn))["ownership"] == "active"
                await submit(new, message, "fine")
                assert (await new.end())["ownership"] == "settled"
                await new.settle()
            await answer(new, await show(new), "good")
            await check(host, new, run_id, ["lost", "ended", "ended"] if how == "rests" else ["ended"] * 2)


async def test_an_agent_that_settles_in_an_open_turn_is_asked_what_it_shows(tmp_path: Path) -> None:
    """Whoever says that it rests need not name the message: it is lost, and the next report says what comes of it."""
    async with talking(tmp_path, asks("first", "second", "last")) as (host, pi, run_id):
        message = await reach(pi, run_id, "in its turn")
        pi.busy = False
        await pi.settle()
        view = await pi.view()
        assert (view["turn"], view["current"]["message"]) == (None, message["message"])
        again = await show(pi)
        assert again["content"]["value"]["reason"] == "reminder"
        await answer(pi, again, "fine")
        await answer(pi, await show(pi), "good")
        await check(host, pi, run_id, ["lost", "ended", "ended"])


async def test_what_was_told_is_not_told_on_another_branch(tmp_path: Path) -> None:
    """An end that was shown has been heard: it asks for nothing, so no branch is told it again, by any coordinator."""
    workflow = asks("first")
    async with talking(tmp_path, workflow) as (host, pi, run_id):
        pi.branch.append(TYPED)
        await answer(pi, await show(pi), "good")
        terminal = await show(pi)
        assert terminal["message"] == f"terminal:{run_id}"
        await pi.report(terminal["message"])
        pi.fork(before=TYPED)
        await pi.report(terminal["message"])
        await pi.attach(rests=True)
        assert (await pi.view())["current"] is None
        async with await AsyncClient.connect(host.home) as person:
            await person.run_restart(run_id)
        await pi.settle()
        assert (await show(pi))["content"]["value"]["node"] == "first"
        assert (await delivered(host)).count(terminal["message"]) == 1
        await check_once(host)
