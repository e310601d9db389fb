"""Accepting runs: receipts, the input's bounds, what is recorded once."""

import math
from typing import Any

import pytest

from runwright.engine.commands.client import CancelRun, PauseRun
from runwright.engine.commands.host import TimeOutRun
from runwright.engine.commands.worker import FailRun
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.events.command import CommandSettled
from runwright.eventstore.events.run import AgentBinding
from runwright.eventstore.values import Json
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.receipts import RECEIPTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from support.graphs import graph, node
from support.stage import Stage, queue_command

FLOW, OTHER = graph(node("one")), graph(node("one"), name="other")


def test_one_transaction_holds_the_launch(scene: Stage) -> None:
    """Run, input, eligibility, definition and receipt stand side by side, the input only in its own event."""
    scene.queue(FLOW, value={"canary": "c4n4ry"})
    assert scene.types() == ["run.queued", "run.input", "run.eligible"]
    events = list(scene.log.read_all())
    assert [each.type for each in events if "c4n4ry" in (each.body or "")] == ["run.input"]
    assert not any("c4n4ry" in each.data for each in events)
    assert [each.type for each in events[-2:]] == ["definition.recorded", "command.settled"]


def test_a_definition_and_a_source_set_are_recorded_once(scene: Stage) -> None:
    """The second run of one workflow refers to what stands already."""
    scene.queue(FLOW, "run-1", sources="d" * 64, paths={"flow.py": "0" * 64})
    scene.queue(FLOW, "run-2", sources="d" * 64, paths={"flow.py": "0" * 64})
    types = [each.type for each in scene.log.read_all()]
    assert types.count("definition.recorded") == 1
    assert types.count("sources.recorded") == 1


def test_the_same_key_adopts_and_another_payload_conflicts(scene: Stage) -> None:
    """C03: applied, conflict, adopted with the same run, conflict; each conflict names the first run."""
    first = scene.ask(queue_command(FLOW, "run-1", {"a": 1}), key="k")
    before = scene.log.head()
    results = [
        scene.ask(queue_command(OTHER, "run-2", {"a": 1}), key="k"),
        scene.ask(queue_command(FLOW, "run-3", {"a": 1}), key="k"),
        scene.ask(queue_command(FLOW, "run-4", {"a": 2}), key="k"),
        scene.ask(CancelRun(run_id="run-1"), key="k"),
    ]
    assert isinstance(first, Applied)
    adopted = results.pop(1)
    assert isinstance(adopted, Adopted)
    assert adopted.value == "run-1"
    for result in results:
        assert isinstance(result, Conflict)
        assert (result.code, result.evidence["run"]) == ("key_reused", "run-1")
    assert scene.log.head() == before


def test_a_repeat_is_known_whatever_the_files_are_now(scene: Stage) -> None:
    """Digests are worked out for the caller and are no part of what was asked."""
    scene.ask(queue_command(FLOW, "run-1", 1), key="k")
    result = scene.ask(queue_command(FLOW, "run-2", 1, sources="e" * 64, paths={}), key="k")
    assert isinstance(result, Adopted)


def test_a_refusal_leaves_no_receipt(scene: Stage) -> None:
    """A refused command is worked out again when it is repeated."""
    scene.queue(FLOW)
    before = scene.log.head()
    for _ in range(2):
        result = scene.ask(PauseRun(run_id="run-1"), key="k")
        assert isinstance(result, Conflict)
        assert result.code == "not_started"
    assert scene.log.head() == before


def test_the_receipt_names_the_commands_first_event(scene: Stage) -> None:
    """And holds no payload, only its fingerprint."""
    scene.ask(queue_command(FLOW, "run-1", "c4n4ry"), key="k")
    receipt = scene.row(RECEIPTS, "cli", "k")
    assert receipt.first is not None
    first = scene.log.event(receipt.first)
    assert first is not None
    assert (first.type, receipt.operation, receipt.run_id) == ("run.queued", "run.start", "run-1")
    (settled,) = [each.event for each in scene.log.read("command/cli/k")]
    assert isinstance(settled, CommandSettled)
    assert len(settled.fingerprint) == 64


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("x" * (1_024 * 1_024), "payload_too_large"),
        ("x" * (17 * 1_024 * 1_024), "payload_too_large"),
        ({"score": math.nan}, "input_invalid"),
        ({"score": {1, 2}}, "input_invalid"),
    ],
)
def test_an_unfit_input_leaves_no_trace(scene: Stage, value: Json, code: str) -> None:
    """Too large or no JSON: typed refusals, and not even an event."""
    before = scene.log.head()
    result = scene.ask(queue_command(FLOW, "run-1", value))
    assert isinstance(result, Conflict)
    assert result.code == code
    assert scene.log.head() == before


def test_a_session_is_held_by_one_run(scene: Stage) -> None:
    """The second start names the run that holds the session; a run in a session waits for its boundary."""
    scene.queue(FLOW, "run-1", session="s1")
    assert not scene.row(QUEUE, "run-1").eligible
    result = scene.ask(queue_command(FLOW, "run-2", session="s1"))
    assert isinstance(result, Conflict)
    assert (result.code, result.evidence["run"]) == ("session_busy", "run-1")
    scene.ask(CancelRun(run_id="run-1"))
    assert scene.rows(RESERVATIONS) == []
    scene.queue(FLOW, "run-2", session="s1")


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_a_cancel_that_comes_too_late_leaves_the_sessions_next_run_alone(scene: Stage, end: str) -> None:
    """S11: it is told how the launch ended, or adopted, and the newer run keeps the session."""
    scene.queue(FLOW, "run-1", session="s1")
    if end == "failed":
        scene.host(TimeOutRun(run_id="run-1"))
    else:
        scene.ask(CancelRun(run_id="run-1"))
    scene.queue(FLOW, "run-2", session="s1")
    before = scene.log.head()
    late = scene.ask(CancelRun(run_id="run-1"))
    assert isinstance(late, Conflict if end == "failed" else Adopted)
    assert scene.log.head() == before
    assert [(each.session, each.run_id) for each in scene.rows(RESERVATIONS)] == [("s1", "run-2")]


@pytest.mark.parametrize(
    "more",
    [
        {"reference": "x" * 70_000},
        {"pass_env": tuple(f"VARIABLE_{number}" for number in range(6_000))},
        {"agents": tuple(AgentBinding(name=f"a{number}", kind="k" * 60) for number in range(1_000))},
    ],
    ids=lambda each: next(iter(each)),
)
def test_what_identifies_a_launch_is_refused_over_its_limit_and_never_cut(scene: Stage, more: dict[str, Any]) -> None:
    """Control facts have 64 KiB: more is refused without a trace."""
    before = scene.log.head()
    result = scene.ask(queue_command(FLOW, "run-1", session="s1", **more))
    assert isinstance(result, Conflict)
    assert (result.code, result.evidence["limit"]) == ("payload_too_large", 65_536)
    assert scene.log.head() == before
    scene.queue(FLOW, "run-2", session="s1")


def test_a_launch_that_fails_erases_its_input(scene: Stage) -> None:
    """One transaction: failed with code and safe message, claim given back, the input gone."""
    scene.queue(FLOW, value="c4n4ry")
    worker = scene.claim(ready=False)
    fail = FailRun(
        outcome="failed", code="workflow_not_found", phase="load", message="No file. token=abc", error="c4n4ry"
    )
    scene.applied(worker, fail)
    run, terminal = scene.row(RUNS, "run-1"), scene.row(TERMINAL, "run-1")
    assert (run.status, run.code, run.input_erased) == ("failed", "workflow_not_found", True)
    assert (terminal.phase, terminal.message, terminal.error) == ("launch", "No file. token=[masked]", None)
    assert scene.types()[-2:] == ["run.failed", "run.input_erased"]
    assert not any("c4n4ry" in (each.body or "") for each in scene.log.read_all())


def test_a_started_run_keeps_its_input(scene: Stage) -> None:
    """Once started, the run owns it."""
    scene.queue(FLOW, value="c4n4ry")
    scene.claim()
    scene.ask(CancelRun(run_id="run-1"))
    assert any("c4n4ry" in (each.body or "") for each in scene.log.read("run/run-1"))


def test_the_runs_own_time_limit_is_a_timer(scene: Stage) -> None:
    """It is set with the launch and ends the run in any live state, once."""
    scene.queue(FLOW, timeout=5_000_000)
    assert scene.row(TIMERS, "run-1", "run").due == scene.clock.us + 5_000_000
    assert isinstance(scene.host(TimeOutRun(run_id="run-1")), Applied)
    run = scene.row(RUNS, "run-1")
    assert (run.status, run.code) == ("timed_out", "run_timed_out")
    assert scene.rows(TIMERS) == []
    before = scene.log.head()
    assert isinstance(scene.host(TimeOutRun(run_id="run-1")), Adopted)
    assert scene.log.head() == before
