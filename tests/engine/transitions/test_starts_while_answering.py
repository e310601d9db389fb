"""Starts while a session is told of an end, or answers it: what fits in, what waits, and what is bounded."""

from typing import Any

from runwright.engine.commands.client import Caller, CancelRun
from runwright.engine.commands.host import FailPresentation, PresentRun
from runwright.engine.commands.worker import FailRun
from runwright.engine.results import Applied, Conflict
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.runs import RUNS
from support.ended_runs import FLOW, ended, failed_launch
from support.scripted_session import ScriptedSession, owned
from support.stage import Stage, queue_command, settled


def ask(scene: Stage, run_id: str, *, person: bool = True) -> Any:
    """Start a run in the session."""
    caller = scene.caller()
    if not person:
        caller = type(caller)(client="pi:s1", key=caller.key, actor="client:pi", person=False)
    return settled(scene.transitions.command(caller, queue_command(FLOW, run_id, session="s1")))


def test_a_corrected_start_fits_into_the_turn_that_the_message_causes(scene: Stage) -> None:
    """S22: a new run, caused by the failed one; that one shows its failure as before."""
    pi = failed_launch(scene)
    scene.host(PresentRun(run_id="run-1"))
    message = pi.receive().message
    pi.begin(message)
    started = ask(scene, "run-2", person=False)
    assert isinstance(started, Applied)
    row = scene.row(RUNS, "run-2")
    assert (row.cause, row.depth) == ("run-1", 1)
    pi.end(message)
    pi.settle()
    assert scene.claim("run-2").generation == 1
    assert scene.row(RUNS, "run-1").code == "source_changed"


def test_a_start_without_a_session_carries_the_cause_of_its_turn_too(scene: Stage) -> None:
    """A model in a turn that a message caused cannot step out of the count; a person's start has no cause."""
    pi = failed_launch(scene)
    scene.host(PresentRun(run_id="run-1"))
    pi.begin(pi.receive().message)
    model = Caller(client="pi:s1", key="headless", actor="client:pi", person=False)
    for run_id, caller in (("run-2", model), ("run-3", scene.caller())):
        started = settled(scene.transitions.command(caller, queue_command(FLOW, run_id)))
        assert isinstance(started, Applied)
    assert (scene.row(RUNS, "run-2").cause, scene.row(RUNS, "run-2").depth) == ("run-1", 1)
    assert (scene.row(RUNS, "run-3").cause, scene.row(RUNS, "run-3").depth) == (None, 0)


def test_a_session_that_answers_an_end_starts_nothing(scene: Stage) -> None:
    """Only while that message was given out, or its turn is open."""
    ended(scene, "completed")
    scene.host(PresentRun(run_id="run-1", instructions="Tell the user."))
    pi = ScriptedSession(scene)
    message = "terminal:run-1"
    first = ask(scene, "run-2")
    assert isinstance(first, Applied), "it was not given out yet"
    scene.ask(CancelRun(run_id="run-2"))
    pi.take(message)
    refused = [ask(scene, "run-3")]
    pi.branch.append(message)
    pi.report(message, idle=False)
    pi.begin(message)
    refused.append(ask(scene, "run-4"))
    for each in refused:
        assert isinstance(each, Conflict)
        assert (each.code, each.evidence["message"]) == ("presentation_pending", message)
    pi.end(message)
    assert isinstance(ask(scene, "run-5"), Applied)


def test_a_message_that_was_not_built_holds_nobody_up(scene: Stage) -> None:
    """Neither one that failed nor one that waits."""
    ended(scene, "completed")
    scene.host(FailPresentation(run_id="run-1", code="function_failed", reason="r"))
    assert isinstance(ask(scene, "run-2"), Applied)


def test_starts_that_only_messages_cause_are_bounded(scene: Stage) -> None:
    """Over depth 3 a model's start is refused; the last message wakes nobody, and a person begins anew."""
    pi = failed_launch(scene, "run-0")
    for depth in (1, 2, 3):
        before, run_id = f"run-{depth - 1}", f"run-{depth}"
        scene.host(PresentRun(run_id=before))
        message = pi.receive(f"launch_failure:{before}").message
        assert owned(pi.begin(message, run=before)) == "active"
        assert isinstance(ask(scene, run_id, person=False), Applied)
        assert scene.row(RUNS, run_id).depth == depth
        pi.end(message, run=before)
        pi.settle()
        fail = FailRun(outcome="failed", code="source_changed", phase="load", message="m")
        scene.applied(scene.claim(run_id, ready=False), fail)
    scene.host(PresentRun(run_id="run-3"))
    assert not scene.row(MESSAGES, "launch_failure:run-3").starts_turn
    assert not pi.receive("launch_failure:run-3").starts_turn
    assert owned(pi.begin("launch_failure:run-3", run="run-3")) == "absent"
