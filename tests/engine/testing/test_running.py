"""Does a workflow in a test behave as it would in reality, only at once and without effects?"""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from attrs import frozen

from runwright import (
    AgentRequest,
    Command,
    Context,
    Engine,
    JsonObject,
    Retry,
    ShellResult,
    Workflow,
    days,
    hours,
    minutes,
    seconds,
    testing,
)


@frozen
class Verdict:
    """What the reviewer says."""

    verdict: Literal["clean", "issues"]
    notes: str = ""


review = Workflow("review", input=JsonObject)


@review.shell(recovery="idempotent")
def diff(ctx: Context[JsonObject]) -> list[str]:
    """Show the change."""
    return ["git", "diff", str(ctx.input["rev"])]


@review.agent(returns=Verdict, timeout=minutes(30))
def inspect(ctx: Context[JsonObject]) -> str:
    """Look at the change."""
    return f"Review {ctx.output(diff).stdout}"


@review.agent
def fix(ctx: Context[JsonObject]) -> str:
    """Mend the change."""
    return f"Fix {ctx.output(inspect).notes}"


rest = review.wait("rest", days(30))


@review.action
def push(ctx: Context[JsonObject]) -> str:
    """Send it off; must not happen twice."""
    raise AssertionError("no effect happens in a test that does not ask for it")


@review.compute
def late(ctx: Context[JsonObject]) -> str:
    """Nobody answered."""
    return "late"


review.entry(diff)
review.then(diff, inspect)
review.switch(inspect, {"clean": push, "issues": fix}, on="$.verdict")
review.catch(inspect, late, on=["timed_out"])
review.then(fix, rest)
review.then(rest, diff)


def test_a_month_passes_at_once() -> None:
    """Answers, effects and waits; paths, prompts and outputs; a wrong answer is refused as it would be."""
    outcome = testing.run(
        review,
        {"rev": "HEAD"},
        agents={inspect: [{"verdict": "?"}, Verdict("issues", "typo"), Verdict("clean")], "fix": ["done"]},
        effects={diff: ["one", ShellResult("two")], push: ["pushed"]},
    )
    assert (outcome.status, outcome.output) == ("completed", "pushed")
    assert outcome.path == ("diff", "inspect", "fix", "rest", "diff", "inspect", "push")
    assert outcome.prompts(inspect) == ["Review one", "Review two"]
    assert outcome.prompts("fix") == ["Fix typo"]
    assert outcome.output_of(inspect) == Verdict("clean")


def test_a_deadline_passes_at_once() -> None:
    """An agent that never answers runs out of its half hour now; one that takes 29 minutes does not."""

    async def never(request: AgentRequest) -> object:
        return await asyncio.get_running_loop().create_future()

    async def slow(request: AgentRequest) -> object:
        await asyncio.sleep(29 * 60)
        return Verdict("clean")

    assert testing.run(review, {"rev": ""}, agents={inspect: never}, effects={diff: [""]}).output == "late"
    outcome = testing.run(review, {"rev": ""}, agents={inspect: slow}, effects={diff: [""], push: ["ok"]})
    assert outcome.output == "ok"


def test_functions_stand_in() -> None:
    """A function gets what the agent, the program or the effect would have got."""
    seen: list[object] = []

    def show(ctx: Context[Any], command: Command) -> str:
        seen.append(command.argv[-1])
        return "text"

    def look(request: AgentRequest) -> object:
        seen.append(request.prompt)
        return {"verdict": "clean"}

    def send(ctx: Context[Any]) -> str:
        seen.append(ctx.output(inspect))
        return "sent"

    outcome = testing.run(review, {"rev": "abc"}, agents={inspect: look}, effects={diff: show, push: send})
    assert outcome.output == "sent"
    assert seen == ["abc", "Review text", Verdict("clean")]


@pytest.mark.parametrize(
    ("agents", "effects", "error", "said"),
    [
        ({inspect: ["x"]}, {}, testing.StandInMissing, "Node 'diff' (shell)"),
        ({}, {diff: [""]}, testing.StandInMissing, "Node 'inspect' (agent)"),
        ({inspect: []}, {diff: [""]}, testing.StandInMissing, "Node 'inspect' (agent)"),
        ({inspect: [Verdict("clean")]}, {diff: [""], push: [7]}, testing.StandInWrong, "Node 'push' (action)"),
        ({inspect: [Verdict("clean")], fix: ["x"]}, {diff: [""], push: ["x"]}, testing.StandInUnused, "'fix'"),
        ({inspect: [Verdict("clean")] * 2}, {diff: [""], push: ["x"]}, testing.StandInUnused, "'inspect' has 2"),
        ({"nobody": []}, {}, testing.StandInUnknown, "'nobody'"),
        ({diff: []}, {}, testing.StandInUnknown, "kind shell"),
    ],
)
def test_what_does_not_fit_is_named(agents: Any, effects: Any, error: type[Exception], said: str) -> None:
    """A stand-in that is missing, unused, unknown or of the wrong type is an error that names the node."""
    with pytest.raises(error) as raised:
        testing.run(review, {"rev": ""}, agents=agents, effects=effects)
    assert said in str(raised.value)


def test_standing_still_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no timeout bounds and nothing ends does not hang the test."""
    monkeypatch.setattr("runwright.engine.testing.virtual_time.PATIENCE", 0.05)
    flow = Workflow("still", input=JsonObject)

    @flow.compute
    async def stuck(ctx: Context[JsonObject]) -> int:
        await asyncio.Event().wait()
        return 1

    flow.entry(stuck)
    unbounded = Workflow("unbounded", input=JsonObject)

    @unbounded.agent(timeout=None)
    def ask(ctx: Context[JsonObject]) -> str:
        return "?"

    unbounded.entry(ask)

    async def never(request: AgentRequest) -> object:
        return await asyncio.Event().wait()

    for session in (False, True):
        with pytest.raises(testing.StandsStill, match=r"stands still at node 'ask'.*give the node a timeout") as raised:
            testing.run(unbounded, {}, agents={ask: never}, session=session)
        assert raised.value.path == "ask"
    assert testing.run(flow, {}).status == "timed_out"


def test_retries_and_absolute_waits_pass_at_once() -> None:
    """Each try is an attempt of its own, hours apart; a wait until a moment ends at that moment."""
    flow = Workflow("again", input=JsonObject)

    @flow.agent(retry=Retry(attempts=3, first=hours(5), factor=2, maximum=hours(9)))
    def ask(ctx: Context[JsonObject]) -> str:
        return f"{ctx.attempt}"

    tomorrow = datetime.now(UTC) + timedelta(days=1)

    @flow.wait
    def until(ctx: Context[JsonObject]) -> datetime:
        return tomorrow

    flow.entry(ask)
    flow.then(ask, until)
    outcome = testing.run(flow, {}, agents={ask: [RuntimeError("no"), RuntimeError("no"), "yes"]})
    assert (outcome.status, outcome.prompts(ask)) == ("completed", ["1", "2", "3"])


def test_real_effects_take_real_time(tmp_path: Path) -> None:
    """An effect that is named real happens, within its own real limit."""
    flow = Workflow("real", input=JsonObject)

    @flow.shell(recovery="idempotent", timeout=seconds(0.2))
    def hang(ctx: Context[JsonObject]) -> list[str]:
        return ["sleep", "30"]

    @flow.shell(recovery="idempotent")
    def write(ctx: Context[JsonObject]) -> list[str]:
        return ["touch", "there"]

    flow.entry(hang)
    flow.catch(hang, write)
    outcome = testing.run(flow, {}, effects={hang: "real", write: "real"}, cwd=tmp_path)
    assert (outcome.status, outcome.path) == ("completed", ("hang", "write"))
    assert (tmp_path / "there").exists()


def test_checkpoints_are_answered() -> None:
    """What a person answers carries the run on; the outcome tells of the whole chain."""
    flow = Workflow("ask", input=JsonObject)

    @flow.checkpoint(summary="May it go on?", returns=str)
    def gate(ctx: Context[JsonObject]) -> None:
        """Ask."""

    @flow.compute
    def done(ctx: Context[JsonObject]) -> str:
        return ctx.output(gate) + "!"

    flow.entry(gate)
    flow.then(gate, done)
    outcome = testing.run(flow, {}, decisions={gate: ["yes"]})
    assert (outcome.status, outcome.output, outcome.path) == ("completed", "yes!", ("gate", "done"))
    with pytest.raises(testing.StandInMissing, match="gate"):
        testing.run(flow, {})
    assert {each.output for each in testing.crash_at(flow, {}, decisions={gate: ["yes"]})} == {"yes!"}


async def test_inside_a_running_loop() -> None:
    """A test that is a coroutine itself may run a workflow, too."""
    flow = Workflow("small", input=JsonObject)

    @flow.compute
    def one(ctx: Context[JsonObject]) -> int:
        return threading.get_ident()

    flow.entry(one)
    assert testing.run(flow, {}).status == "completed"


def test_context_for_one_function(tmp_path: Path) -> None:
    """A function can be called with exactly what it would see."""
    ctx = testing.context(
        review, {"rev": "x"}, outputs={diff: ShellResult("text"), inspect: Verdict("issues", "typo")}, visits={fix: 3}
    )
    assert inspect(ctx) == "Review text"
    assert fix(ctx) == "Fix typo"
    assert (ctx.visits(diff), ctx.visits(fix), ctx.visits(push)) == (1, 3, 0)
    assert ctx.outputs["inspect"] == {"verdict": "issues", "notes": "typo"}


def test_scripted_agent_in_an_engine(runwright_engine: Engine) -> None:
    """The plugin's fixture is an open engine with a store of the test's own."""
    flow = Workflow("small", input=JsonObject)

    @flow.compute
    def one(ctx: Context[JsonObject]) -> int:
        return 1

    flow.entry(one)
    assert runwright_engine.run(flow, {}).output == 1


def test_scripted_agent(tmp_path: Path) -> None:
    """An executor for an engine of one's own answers in order, or node by node, and keeps what it was asked."""
    flow = Workflow("asks", input=JsonObject)

    @flow.agent
    def first(ctx: Context[JsonObject]) -> str:
        return "1"

    @flow.agent
    def second(ctx: Context[JsonObject]) -> str:
        return "2"

    flow.entry(first)
    flow.then(first, second)
    scripts: tuple[Any, ...] = (["a", "b"], {first: ["a"], "second": lambda request: request.prompt + "b"})
    for script in scripts:
        agent = testing.ScriptedAgent(script)
        with Engine.open(tmp_path / str(type(script)), agents={"default": agent}) as engine:
            assert engine.run(flow, {}).output in ("b", "2b")
        assert [each.prompt for each in agent.requests] == ["1", "2"]
