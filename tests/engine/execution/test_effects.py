"""Managed effects: what is recorded when, and what each contract makes of each end."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from attrs import evolve

from runwright import Absent, Context, JsonObject, Observation, Present, Retry, Uncertain, Unclear, Workflow, seconds
from runwright.engine.commands.worker import BeginEffect, CompleteRun, FailRun, SettleEffect
from support.running import port_for, run, run_until_crash
from support.scripted_port import Crash, ScriptedPort

Body = Callable[[Context[JsonObject]], Any]
AT_ONCE = Retry(attempts=2, first=seconds(0))


def acting(body: Body, **how: Any) -> Workflow[JsonObject]:
    """One action with a given body, and a node that catches its bad ends."""
    workflow = Workflow("acting")
    effect: Any = workflow.action(**how)

    @effect  # type: ignore[untyped-decorator]  # its arguments are only known to the test
    def act(ctx: Context[JsonObject]) -> Any:
        return body(ctx)

    @workflow.compute
    def caught(ctx: Context[JsonObject]) -> str:
        result = ctx.result(act)
        assert result is not None
        return result.outcome

    workflow.entry(act)
    workflow.catch(act, caught)
    return workflow


def raising(error: BaseException) -> Body:
    """A body that raises."""

    def body(ctx: Context[JsonObject]) -> None:
        raise error

    return body


def settlements(port: ScriptedPort) -> list[tuple[str, str]]:
    """Outcome and cause of each settlement."""
    return [(one.outcome, one.cause) for one in port.all(SettleEffect) if isinstance(one, SettleEffect)]


def test_an_effect_costs_one_commit_before_and_one_after(tmp_path: Path) -> None:
    """Start, reservation and begin stand in one list; result and end in the next."""
    port = port_for(acting(lambda ctx: 7, recovery="idempotent"), tmp_path)
    assert run(port) == "finished"
    assert port.told() == [
        *("|", "Ready", "StartNode", "ReserveEffect", "BeginEffect"),
        *("|", "SettleEffect", "FinishNode", "CompleteRun", "ExitWorker"),
    ]
    assert port.output("act") == 7


def test_the_request_is_handed_over_as_it_was_saved(tmp_path: Path) -> None:
    """The function gets the request rebuilt from its JSON, by its declared type."""
    workflow = Workflow("asked")
    seen: list[object] = []

    def ask(ctx: Context[JsonObject]) -> tuple[int, str]:
        return (1, "a")

    @workflow.action(request=ask, recovery="idempotent")
    def act(ctx: Context[JsonObject], request: tuple[int, str]) -> None:
        seen.append(request)

    workflow.entry(act)
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert seen == [(1, "a")]
    assert port.effects["act", 1].request == [1, "a"]


UNCERTAIN = [Uncertain("maybe"), TimeoutError(), ConnectionResetError(), BrokenPipeError(), KeyError("mine")]


@pytest.mark.parametrize("error", UNCERTAIN, ids=lambda error: type(error).__name__)
def test_a_manual_effect_parks_after_an_uncertain_end(tmp_path: Path, error: BaseException) -> None:
    """It is ambiguous, the attempt stays open, and the run waits for an operator."""
    port = port_for(acting(raising(error), uncertain=(KeyError,)), tmp_path)
    assert run(port) == "parked"
    assert settlements(port) == [("ambiguous", "uncertain")]
    assert port.parked is not None
    assert port.parked.reason == "effect_ambiguous"
    assert port.nodes["act"].open


@pytest.mark.parametrize("error", [ValueError("no"), ConnectionRefusedError()], ids=["other", "certain"])
def test_a_known_failure_is_rejected_and_routed(tmp_path: Path, error: BaseException) -> None:
    """Any other exception, and those named certain, mean that nothing more came of it."""
    port = port_for(acting(raising(error), certain=(ConnectionRefusedError,)), tmp_path)
    assert run(port) == "finished"
    assert settlements(port) == [("rejected", "")]
    assert port.output("caught") == "failed"


def test_a_group_of_exceptions_is_uncertain_when_one_of_it_is(tmp_path: Path) -> None:
    """What `asyncio.gather` or a task group hides is not overlooked."""
    group = ExceptionGroup("several", [ValueError("a"), ExceptionGroup("inner", [TimeoutError()])])
    port = port_for(acting(raising(group)), tmp_path)
    assert run(port) == "parked"


def test_a_result_that_cannot_be_stored_is_uncertain(tmp_path: Path) -> None:
    """A manual effect is ambiguous then; it did happen, but nobody can keep what came of it."""
    port = port_for(acting(lambda ctx: Lock()), tmp_path)
    assert run(port) == "parked"
    assert settlements(port) == [("ambiguous", "unstorable")]


def test_an_idempotent_effect_takes_its_declared_try(tmp_path: Path) -> None:
    """Released for the next attempt, then rejected; the same effect, applied twice."""
    port = port_for(acting(raising(TimeoutError()), recovery="idempotent", retry=AT_ONCE), tmp_path)
    assert run(port) == "finished"
    assert settlements(port) == [("released", "try"), ("rejected", "")]
    assert port.finished()[:2] == [("act", 1, 1, "failed"), ("act", 1, 2, "failed")]
    assert len(port.effects) == 1
    assert port.effects["act", 1].applications == 2


def test_a_result_of_the_wrong_kind_is_not_tried_again(tmp_path: Path) -> None:
    """`output_invalid` asks for another program, not for another try."""
    port = port_for(acting(lambda ctx: Lock(), recovery="idempotent", retry=AT_ONCE), tmp_path)
    assert run(port) == "finished"
    assert port.nodes["act"].code == "output_invalid"
    assert port.effects["act", 1].applications == 1


@pytest.mark.parametrize("error", [ValueError("no"), TimeoutError()], ids=["known", "uncertain"])
def test_an_observed_effect_is_looked_at_before_anything_is_believed(tmp_path: Path, error: BaseException) -> None:
    """Present: applied, whatever was raised."""
    workflow = Workflow("observed")

    def look(ctx: Context[JsonObject], request: int) -> Observation[str]:
        return Present(f"seen {request}")

    @workflow.action(request=lambda ctx: 5, observe=look)
    def act(ctx: Context[JsonObject], request: int) -> str:
        raise error

    workflow.entry(act)
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, CompleteRun)
    assert (port.output("act"), settlements(port)) == ("seen 5", [("applied", "")])


def looking(answer: object, **how: Any) -> Workflow[JsonObject]:
    """An action that always fails, and an observation that answers so."""
    workflow = Workflow("looking")

    def look(ctx: Context[JsonObject], request: int) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    @workflow.action(request=lambda ctx: 5, observe=look, **how)
    def act(ctx: Context[JsonObject], request: int) -> str:
        raise ValueError("no")

    workflow.entry(act)
    return workflow


def test_absent_is_a_failed_attempt(tmp_path: Path) -> None:
    """The declared try is taken, then the effect is rejected and the node has failed."""
    port = port_for(looking(Absent(), retry=AT_ONCE), tmp_path)
    assert run(port) == "finished"
    assert settlements(port) == [("released", "try"), ("rejected", "")]
    assert isinstance(port.ended, FailRun)


@pytest.mark.parametrize(
    "answer", [Unclear("fog"), RuntimeError("blind"), None, Present(3)], ids=["unclear", "raises", "nothing", "wrong"]
)
def test_an_unclear_observation_parks(tmp_path: Path, answer: object) -> None:
    """Unclear, an observation that fails, and one whose result does not fit: a person has to look."""
    port = port_for(looking(answer), tmp_path)
    assert run(port) == "parked"
    assert settlements(port) == [("ambiguous", "unclear")]


@pytest.mark.parametrize(
    ("how", "applied", "first"),
    [({"recovery": "idempotent"}, 2, ("released", "idempotent")), ({}, 1, ("ambiguous", "worker_ended"))],
    ids=["idempotent", "manual"],
)
def test_a_crash_before_the_result_is_saved(
    tmp_path: Path, how: dict[str, Any], applied: int, first: tuple[str, str]
) -> None:
    """Idempotent: once more in the same attempt. Manual: ambiguous, nothing is called."""
    calls: list[int] = []
    port = port_for(acting(lambda ctx: calls.append(1), **how), tmp_path)
    crashing(port, SettleEffect)
    assert run_until_crash(port) is None
    port.crash_before = lambda _: None
    run(port)
    assert len(calls) == applied
    assert settlements(port)[0] == first
    assert {attempt for _, _, attempt, _ in port.finished()} <= {1}


def crashing(port: ScriptedPort, kind: type[object]) -> None:
    """Let the worker vanish before a list with such a transition is decided."""

    def before(transitions: Any) -> None:
        if any(isinstance(each, kind) for each in transitions):
            raise Crash

    port.crash_before = before


@pytest.mark.parametrize(
    ("answer", "calls", "end"),
    [(Present("there"), 1, "finished"), (Absent(), 2, "finished"), (Unclear(), 1, "parked")],
    ids=["present", "absent", "unclear"],
)
def test_a_crash_of_an_observed_effect(tmp_path: Path, answer: Observation[str], calls: int, end: str) -> None:
    """The next worker looks first, and calls only what is absent."""
    applied: list[int] = []
    workflow = Workflow("vanishing")

    def look(ctx: Context[JsonObject], request: None) -> Observation[str]:
        return answer

    @workflow.action(request=lambda ctx: None, observe=look)
    def act(ctx: Context[JsonObject], request: None) -> str:
        applied.append(1)
        return "done"

    workflow.entry(act)
    port = port_for(workflow, tmp_path)
    crashing(port, SettleEffect)
    assert run_until_crash(port) is None
    port.crash_before = lambda _: None
    assert run(port) == end
    assert len(applied) == calls


def test_the_saved_request_stands(tmp_path: Path) -> None:
    """A crash retry gets the request of the reservation, whatever the function would say now."""
    asked = iter(["first", "second"])
    seen: list[str] = []
    workflow = Workflow("once")

    @workflow.action(request=lambda ctx: next(asked), recovery="idempotent")
    def act(ctx: Context[JsonObject], request: str) -> None:
        seen.append(request)

    workflow.entry(act)
    port = port_for(workflow, tmp_path)
    crashing(port, SettleEffect)
    assert run_until_crash(port) is None
    port.crash_before = lambda _: None
    assert run(port) == "finished"
    assert seen == ["first", "first"]


def test_a_saved_result_is_the_output_and_nothing_is_called(tmp_path: Path) -> None:
    """An effect that is applied while its attempt is open completes the node."""
    calls: list[int] = []
    port = port_for(acting(lambda ctx: calls.append(1)), tmp_path)
    crashing(port, SettleEffect)
    assert run_until_crash(port) is None
    port.crash_before = lambda _: None
    port.effects["act", 1] = evolve(port.effects["act", 1], state="applied", result=None)
    assert run(port) == "finished"
    assert (len(calls), len(port.all(BeginEffect))) == (1, 1)


def test_a_request_that_fails_begins_nothing(tmp_path: Path) -> None:
    """The node starts and fails in one list; no effect is reserved."""
    workflow = Workflow("unasked")

    @workflow.action(request=lambda ctx: {"a": [1, {"b": float("nan")}]}, recovery="idempotent")
    def act(ctx: Context[JsonObject], request: object) -> None:
        raise AssertionError

    workflow.entry(act)
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert port.told() == ["|", "Ready", "StartNode", "FinishNode", "FailRun", "ExitWorker"]
    assert "$.a[1].b" in str(port.nodes["act"].error)


@pytest.mark.parametrize("dynamic", [False, True], ids=["fixed", "function"])
def test_an_operators_not_done_is_a_new_application_with_a_new_deadline(tmp_path: Path, dynamic: bool) -> None:
    """The same attempt and the same effect, with its whole time again."""
    calls: list[object] = []

    def act(ctx: Context[JsonObject]) -> int:
        calls.append(ctx.deadline)
        if len(calls) == 1:
            raise Uncertain
        return 1

    port = port_for(acting(act, timeout=(lambda ctx: 60) if dynamic else 60), tmp_path)
    assert run(port) == "parked"
    port.effects["act", 1] = evolve(port.effects["act", 1], state="reserved", cause="resolved")
    port.shift = 3_600_000_000
    assert run(port) == "finished"
    assert isinstance(port.ended, CompleteRun)
    assert len(calls) == 2
    assert calls[0] != calls[1]
    assert port.effects["act", 1].applications == 2
