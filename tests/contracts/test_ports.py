"""The scripted port of the tests, the real one and a worker's channel: the same workflow leaves the same facts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from runwright import Absent, Command, Context, JsonObject, Present, Retry, Uncertain, Unclear, Workflow, seconds
from runwright.engine.agents.agent import AgentRequest
from runwright.engine.agents.callable import CallableAgent
from runwright.engine.commands.worker import CompleteRun, FailRun, FinishNode, SettleEffect, SubmitCandidate
from runwright.engine.embedded.engine import Engine
from runwright.eventstore.events.effect import EffectAmbiguous, EffectApplied, EffectRejected, EffectReleased
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.request import RequestAccepted, RequestRejected
from runwright.eventstore.events.run import RunCompleted, RunFailed, RunParked, RunTimedOut
from support.channelled import run_over_channel
from support.running import port_for, run
from support.scripted_port import ScriptedPort

Facts: TypeAlias = list[tuple[object, ...]]
Ask: TypeAlias = Callable[[AgentRequest], object]

AT_ONCE = Retry(attempts=2, first=seconds(0))


def effect(body: Callable[[], Any], **how: Any) -> Workflow[JsonObject]:
    """One action, its bad ends caught by a node."""
    workflow = Workflow("effect")

    def act(ctx: Context[JsonObject], *request: object) -> Any:
        return body()

    def caught(ctx: Context[JsonObject]) -> str:
        return "caught"

    node: Any = workflow.action(**how)(act)
    workflow.entry(node)
    workflow.catch(node, workflow.compute(caught))
    return workflow


def failing(error: Exception) -> Callable[[], Any]:
    """A body that raises."""

    def body() -> None:
        raise error

    return body


def observed(answer: object, error: Exception) -> Workflow[JsonObject]:
    """An action that fails, and an observation that answers so."""
    return effect(failing(error), request=lambda ctx: [1], observe=lambda ctx, request: answer, retry=AT_ONCE)


def shell(**how: Any) -> Workflow[JsonObject]:
    """A command with a secret variable and a failing `parse`."""
    workflow = Workflow("shell")

    def parse(result: object) -> int:
        raise ValueError("odd")

    def command(ctx: Context[JsonObject]) -> Command:
        return Command.sh("echo $T", env={"T": "secret-value"})

    node: Any = workflow.shell(parse=parse, **how)(command)
    workflow.entry(node)
    return workflow


def loop() -> Workflow[JsonObject]:
    """A loop with a limit and a failing, retried node behind it."""
    workflow = Workflow("loop")

    @workflow.compute
    def work(ctx: Context[JsonObject]) -> int:
        return ctx.visit

    @workflow.compute(retry=AT_ONCE)
    def breaks(ctx: Context[JsonObject]) -> int:
        raise ValueError("always")

    workflow.entry(work)
    workflow.then(work, work)
    workflow.limit(work, visits=3, to=breaks)
    return workflow


def unrouted() -> Workflow[JsonObject]:
    """A value without a case."""
    workflow = Workflow("unrouted")

    @workflow.compute
    def pick(ctx: Context[JsonObject]) -> str:
        return "c"

    workflow.entry(pick)
    workflow.switch(pick, {"a": pick})
    return workflow


def steps() -> Workflow[JsonObject]:
    """A loop that only `max_steps` ends."""
    workflow = Workflow("steps", max_steps=4)

    @workflow.compute
    def work(ctx: Context[JsonObject]) -> int:
        return ctx.steps_left

    workflow.entry(work)
    workflow.then(work, work)
    return workflow


def asked(**how: Any) -> Workflow[JsonObject]:
    """An agent node."""
    workflow = Workflow("asked")

    @workflow.agent(returns=int, **how)
    def ask(ctx: Context[JsonObject]) -> str:
        return "How many?"

    workflow.entry(ask)
    return workflow


def slow() -> Workflow[JsonObject]:
    """A manual effect that runs out of time."""
    workflow = Workflow("slow")

    @workflow.action(timeout=0.05)
    async def act(ctx: Context[JsonObject]) -> None:
        import asyncio

        await asyncio.sleep(30)

    workflow.entry(act)
    return workflow


CASES: dict[str, Callable[[], Workflow[JsonObject]]] = {
    "applied": lambda: effect(lambda: 3, recovery="idempotent"),
    "rejected": lambda: effect(failing(ValueError("no"))),
    "ambiguous": lambda: effect(failing(Uncertain("maybe"))),
    "unstorable": lambda: effect(object),
    "tried again": lambda: effect(failing(TimeoutError()), recovery="idempotent", retry=AT_ONCE),
    "present": lambda: observed(Present(4), TimeoutError()),
    "absent": lambda: observed(Absent(), TimeoutError()),
    "unclear": lambda: observed(Unclear("fog"), ValueError()),
    "parse fails": lambda: shell(recovery="idempotent", retry=AT_ONCE),
    "manual command": shell,
    "loop": loop,
    "unrouted": unrouted,
    "steps": steps,
    "asked": asked,
    "asked again": lambda: asked(retry=AT_ONCE),
    "slow": slow,
}
ANSWERS: dict[str, list[object]] = {"asked": ["x", None, 7], "asked again": [ValueError("down"), 8]}


def executor(name: str) -> dict[str, CallableAgent]:
    """An executor that gives one answer after the other."""
    answers = list(ANSWERS.get(name, []))

    def answer(request: AgentRequest) -> object:
        given = answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    return {"default": CallableAgent(answer)}


@pytest.mark.parametrize("name", CASES)
def test_both_ports_leave_the_same_facts(tmp_path: Path, name: str) -> None:
    """Ends of attempts, of effects, of answers and of the run, in the same order."""
    (tmp_path / "scripted").mkdir()
    workflow = CASES[name]()
    port = port_for(workflow, tmp_path / "scripted", max_steps=workflow.max_steps)
    run(port, agents=executor(name))
    with Engine.open(tmp_path / "engine", agents=executor(name)) as engine:
        outcome = engine.run(CASES[name](), {})
        recorded = [facts for each in engine.events(outcome.run_id) if (facts := of_event(each.event))]
    assert recorded == of_port(port)


@pytest.mark.parametrize("name", CASES)
def test_a_channel_between_changes_nothing(tmp_path: Path, name: str) -> None:
    """The same executor over a worker's channel leaves the same facts as without it."""
    facts: list[Facts] = []
    for carry in (run, run_over_channel):
        folder = tmp_path / carry.__name__
        folder.mkdir()
        workflow = CASES[name]()
        port = port_for(workflow, folder, max_steps=workflow.max_steps)
        carry(port, agents=executor(name))
        facts.append(of_port(port))
    assert facts[0] == facts[1]


def of_port(port: ScriptedPort) -> Facts:
    """What the scripted port was told."""
    facts: Facts = []
    for each in port.lists:
        for told in each:
            match told:
                case FinishNode():
                    facts.append((told.path, told.visit, told.attempt, told.outcome, told.code, told.next))
                case SettleEffect():
                    facts.append((told.outcome, told.cause if told.outcome in ("released", "ambiguous") else ""))
                case SubmitCandidate():
                    facts.append(("answer", told.code))
                case FailRun():
                    facts.append((told.outcome, told.code))
                case CompleteRun():
                    facts.append(("completed",))
                case _:
                    continue
    if port.ended is None and port.parked is not None:
        facts.append(("parked", port.parked.reason))
    return facts


def of_event(event: object) -> tuple[object, ...] | None:
    """The same, as the log has it."""
    match event:
        case NodeFinished():
            return (event.path, event.visit, event.attempt, event.outcome, event.code, event.next)
        case EffectApplied():
            return ("applied", "")
        case EffectRejected():
            return ("rejected", "")
        case EffectReleased():
            return ("released", event.cause)
        case EffectAmbiguous():
            return ("ambiguous", event.cause)
        case RequestRejected():
            return ("answer", event.code)
        case RequestAccepted():
            return ("answer", None)
        case RunFailed():
            return ("failed", event.code)
        case RunTimedOut():
            return ("timed_out", event.code)
        case RunCompleted():
            return ("completed",)
        case RunParked():
            return ("parked", event.reason)
        case _:
            return None
