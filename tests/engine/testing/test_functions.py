"""Is a function that stands in heard as what it is: an agent, an effect, a person, or the test that wrote it?"""

import asyncio
import re
from typing import Any

import pytest

from runwright import AgentRequest, Command, Context, JsonObject, Workflow, days, minutes, testing
from support.rehearsed import ask, build, given, push, ship, talk


def assertion(*_: object) -> object:
    """A stand-in that holds something against what it gets."""
    assert not _, "not what was expected"
    return None


async def later(*_: object) -> object:
    """The same as a coroutine, and by pytest's own word."""
    pytest.fail("not what was expected")


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize("stand_in", [assertion, later])
@pytest.mark.parametrize(
    ("argument", "node"), [("agents", ask), ("effects", push), ("effects", build), ("decisions", ship)]
)
def test_what_a_stand_in_asserts_fails_the_test(argument: str, node: Any, stand_in: Any, session: bool) -> None:
    """An assertion speaks for the test, and not for an agent that failed; its node is noted, its line is kept."""
    expected = (AssertionError, pytest.fail.Exception)
    with pytest.raises(expected, match="not what was expected") as raised:
        testing.run(talk, {}, **given(**{argument: {node: stand_in}}), session=session)
    assert raised.value.__notes__ == [f"The stand-in of node {node.name!r} raised this."]
    assert stand_in.__name__ in [entry.name for entry in raised.traceback]


def test_what_a_persons_stand_in_raises_names_the_node() -> None:
    """There is nothing that a person's exception could stand for."""

    def lost(request: object) -> str:
        raise KeyError("lost")

    with pytest.raises(KeyError) as raised:
        testing.run(talk, {}, **given(decisions={ship: lost}))
    assert raised.value.__notes__ == ["The stand-in of node 'ship' raised this."]


def test_functions_that_stand_in_for_people_may_wait() -> None:
    """One that takes three days answers; one that takes longer than the deadline comes too late, and policy decides."""

    def after(time: Any) -> Any:
        async def decide(request: object) -> str:
            await asyncio.sleep(time.total_seconds())
            return "yes"

        return decide

    decided = [testing.run(talk, {}, **given(decisions={ship: after(days(count))})).output_of(ship) for count in (3, 8)]
    assert [(each.choice, each.timed_out) for each in decided] == [("yes", False), ("no", True)]


@pytest.mark.parametrize("session", [False, True])
def test_an_answer_after_the_runs_own_time_finds_it_timed_out(session: bool) -> None:
    """A person who answers a checkpoint when the run has ended changes nothing, with a crash and without one."""

    async def late(request: object) -> str:
        await asyncio.sleep(days(2).total_seconds())
        return "yes"

    flow = Workflow("limited", input=JsonObject, timeout=days(1))
    flow.entry(flow.checkpoint(name="ask", summary="May it go on?", returns=str)(lambda ctx: None))
    outcome = testing.run(flow, {}, decisions={"ask": late}, session=session)
    assert (outcome.status, outcome.error and outcome.error.code) == ("timed_out", "run_timed_out")
    assert {each.status for each in testing.crash_at(flow, {}, decisions={"ask": late}, session=session)} == {
        "timed_out"
    }


@pytest.mark.parametrize("session", [False, True])
def test_an_agent_that_never_answers_runs_out_of_time(session: bool) -> None:
    """Also where a session asks it: the time of a request passes while nobody works on it."""

    async def never(request: AgentRequest) -> object:
        return await asyncio.Event().wait()

    flow = Workflow("unanswered", input=JsonObject)
    flow.entry(flow.agent(name="ask", timeout=minutes(5))(lambda ctx: "?"))
    outcome = testing.run(flow, {}, agents={"ask": never}, session=session)
    assert (outcome.status, outcome.error and outcome.error.code) == ("timed_out", "node_timed_out")


def test_a_play_that_a_crash_disturbs_says_which() -> None:
    """A function that answers once for all plays has nothing left for the second."""
    answers = iter(["only one"])
    flow = Workflow("once", input=JsonObject)
    flow.entry(flow.agent(name="ask")(lambda ctx: "?"))
    with pytest.raises(testing.StandInMissing, match=r"Node 'ask' \(agent\) has a function that ran out") as raised:
        testing.crash_at(flow, {}, agents={"ask": lambda request: next(answers)})
    (note,) = raised.value.__notes__
    assert re.fullmatch(r"It came to this after a crash (before|after) commit \d+, and not without one\.", note)


def test_a_command_is_what_a_programs_stand_in_gets() -> None:
    """The types that a mistaken function is told are those that a right one gets."""
    seen: list[str] = []

    def building(ctx: Context[Any], command: Command) -> str:
        seen.extend(type(each).__name__ for each in (ctx, command))
        return ""

    testing.run(talk, {}, **given(effects={build: building}))
    assert seen == ["Context", "Command"]
