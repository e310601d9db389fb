"""Law 5: no failure to build, store or send a message can undo, delay or block a terminal state or a cancellation."""

from collections.abc import Callable

import pytest

from runwright.engine.commands.client import CancelRun
from runwright.engine.commands.host import FailPresentation, PresentRun, TimeOutRun
from runwright.engine.commands.worker import AskSession, CompleteRun, FailRun, FinishNode, StartNode
from runwright.engine.results import Applied
from runwright.eventstore.events.run import RunCancelled, RunCompleted, RunFailed, RunTimedOut
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from support.graphs import graph, node
from support.scripted_session import ScriptedSession
from support.stage import Stage, settled

FLOW = graph(node("one"), node("ask", "agent"))
ENDINGS = (RunCompleted.type, RunFailed.type, RunTimedOut.type, RunCancelled.type)


def complete(scene: Stage) -> None:
    """It completed."""
    done = FinishNode(path="one", visit=1, attempt=1, outcome="completed", output=1)
    scene.applied(scene.last, StartNode(path="one", visit=1, attempt=1), done, CompleteRun())


def fail(scene: Stage) -> None:
    """It failed."""
    scene.applied(scene.last, FailRun(outcome="failed", code="node_failed", phase="execute", message="m", error="e"))


def time_out(scene: Stage) -> None:
    """It ran out of time."""
    assert isinstance(scene.host(TimeOutRun(run_id="run-1")), Applied)


def cancel(scene: Stage) -> None:
    """It was cancelled."""
    assert isinstance(scene.ask(CancelRun(run_id="run-1", reason="why")), Applied)


ENDS = (complete, fail, time_out, cancel)


def begun(scene: Stage) -> ScriptedSession:
    """A run of a session that is at work."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    pi.settle()
    scene.claim()
    return pi


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_the_end_is_committed_before_any_message_is_built(scene: Stage, end: Callable[[Stage], None]) -> None:
    """The append that ends the run holds no message, and everything is free when it stands."""
    begun(scene)
    end(scene)
    assert not any(each in scene.types() for each in ("message.queued", "presentation.prepared"))
    assert scene.row(RUNS, "run-1").finished_at is not None
    assert scene.rows(RESERVATIONS) == []
    assert scene.row(QUEUE, "run-1").owner is None
    row = scene.row(TERMINAL, "run-1")
    assert (row.message_due, row.presentation) == ("terminal", "pending")
    scene.queue(FLOW, "run-2", session="s1")


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_no_failure_of_a_presentation_touches_the_end(scene: Stage, end: Callable[[Stage], None]) -> None:
    """However often it fails: same end, same time, no claim, no reservation; mended, it is built once."""
    begun(scene)
    end(scene)
    run, queue = scene.row(RUNS, "run-1"), scene.row(QUEUE, "run-1")
    for _ in range(5):
        failed = scene.host(FailPresentation(run_id="run-1", code="function_failed", reason="The function raised."))
        assert isinstance(failed, Applied)
        assert scene.row(TERMINAL, "run-1").presentation == "failed"
        assert (scene.row(RUNS, "run-1"), scene.row(QUEUE, "run-1")) == (run, queue)
        assert scene.rows(RESERVATIONS) == []
    for _ in range(3):
        scene.host(PresentRun(run_id="run-1"))
    assert (scene.row(RUNS, "run-1"), scene.row(QUEUE, "run-1")) == (run, queue)
    assert [each.message for each in scene.rows(MESSAGES)] == ["terminal:run-1"]
    assert len([each for each in scene.types() if each in ENDINGS]) == 1


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_values_that_nobody_can_read_block_no_end(scene: Stage, end: Callable[[Stage], None]) -> None:
    """Even where everything private of the run is gone, before the end or after it."""
    begun(scene)
    end(scene)
    erase = [each.position for each in scene.log.read("run/run-1") if each.body]
    settled(scene.log.transact(lambda tx: tx.erase(erase)))
    result = scene.host(PresentRun(run_id="run-1"))
    assert isinstance(result, Applied)
    assert result.value in ("abandoned", "prepared")
    assert scene.row(RUNS, "run-1").finished_at is not None
    scene.queue(FLOW, "run-2", session="s1")


def test_a_cancellation_waits_for_no_message(scene: Stage) -> None:
    """Not for one that is pending, handed out, or being answered in an open turn."""
    pi = begun(scene)
    cancel(scene)
    scene.host(PresentRun(run_id="run-1", instructions="Say it."))
    scene.queue(FLOW, "run-2", session="s1")
    message = pi.receive().message
    pi.begin(message)
    assert isinstance(scene.ask(CancelRun(run_id="run-2")), Applied)
    assert scene.row(RUNS, "run-2").status == "cancelled"


@pytest.mark.parametrize("reached", ["unsent", "handed out", "sent", "in a turn"])
def test_a_cancellation_waits_for_none_of_the_runs_own_messages(scene: Stage, reached: str) -> None:
    """Wherever its step is, and whatever follow-up waits behind it: cancelled in one transaction."""
    pi = begun(scene)
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="p", contract=None)
    scene.applied(scene.last, StartNode(path="ask", visit=1, attempt=1), ask)
    pi.follow_up("run-1", "And then?")
    if reached == "handed out":
        pi.take()
    elif reached != "unsent":
        message = pi.receive().message
        if reached == "in a turn":
            pi.begin(message)
    cancel(scene)
    assert scene.row(RUNS, "run-1").status == "cancelled"
    assert scene.rows(RESERVATIONS) == []


def test_a_message_that_cannot_be_sent_holds_nothing(scene: Stage) -> None:
    """Nobody is attached, for ever: the session's next run starts and ends all the same."""
    begun(scene).detach()
    fail(scene)
    scene.host(PresentRun(run_id="run-1", instructions="Say it."))
    scene.queue(FLOW, "run-2", session="s1")
    assert isinstance(scene.ask(CancelRun(run_id="run-2")), Applied)
    assert [each.state for each in scene.rows(MESSAGES)] == ["pending"]
