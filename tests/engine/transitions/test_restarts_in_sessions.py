"""A restart in a session is a start like any other: what caused it counts, and the session answers an end first."""

from typing import Any

from runwright.engine.commands.client import Caller, CancelRun, RestartRun
from runwright.engine.commands.host import PresentRun
from runwright.engine.commands.worker import CompleteRun, FailRun, FinishNode, StartNode
from runwright.engine.results import Applied, Conflict
from runwright.projections.control.runs import RUNS
from support.graphs import graph, node
from support.scripted_session import ScriptedSession, owned
from support.stage import Stage, queue_command, settled

FLOW = graph(node("one"))


def finished(scene: Stage, run_id: str = "run-0", *, completed: bool = False) -> ScriptedSession:
    """A run that started in its session and ended, so that it may be restarted."""
    ask(scene, run_id)
    pi = ScriptedSession(scene)
    pi.settle()
    end(scene, run_id, completed=completed)
    return pi


def ask(scene: Stage, run_id: str) -> None:
    """Start a run in the session as its model does."""
    started = settled(scene.transitions.command(model(run_id), queue_command(FLOW, run_id, session="s1")))
    assert isinstance(started, Applied), started


def end(scene: Stage, run_id: str, *, completed: bool) -> None:
    """Let a run that is eligible end."""
    worker = scene.claim(run_id)
    scene.applied(worker, StartNode(path="one", visit=1, attempt=1))
    if completed:
        scene.applied(worker, FinishNode(path="one", visit=1, attempt=1, outcome="completed", output=1), CompleteRun())
        return
    scene.applied(
        worker,
        FinishNode(path="one", visit=1, attempt=1, outcome="failed", code="node_failed", error=run_id),
        FailRun(outcome="failed", code="node_failed", phase="execute", message="m", error=run_id),
    )


def model(key: str) -> Caller:
    """The session's model."""
    return Caller(client="pi:s1", key=key, actor="client:pi", person=False)


def restart(scene: Stage, parent: str, run_id: str, *, person: bool = False) -> Any:
    """Restart a run, as the session's model where no person does."""
    caller = scene.caller() if person else model(run_id)
    return settled(scene.transitions.command(caller, RestartRun(run_id=parent, new_run_id=run_id)))


def follow_up(scene: Stage, pi: ScriptedSession, run_id: str) -> str:
    """Queue a run whose follow-up reaches the session once it has completed, and open the turn of that."""
    assert isinstance(pi.follow_up(run_id, "And now?"), Applied)
    pi.settle()
    end(scene, run_id, completed=True)
    message = pi.receive().message
    assert owned(pi.begin(message, run=run_id)) == "active"
    return message


def test_a_restart_in_the_turn_of_a_message_carries_its_cause(scene: Stage) -> None:
    """It counts like a start: over depth 3 a model's is refused with the run that caused it, never a person's."""
    pi = finished(scene)
    for depth in (1, 2, 3):
        run_id = f"run-{depth}"
        if depth == 1:
            ask(scene, "first")
            message, cause = follow_up(scene, pi, "first"), "first"
        assert isinstance(restart(scene, "run-0", run_id), Applied)
        row = scene.row(RUNS, run_id)
        assert (row.cause, row.depth) == (cause, depth)
        pi.end(message, run=cause)
        message, cause = follow_up(scene, pi, run_id), run_id
    refused = settled(scene.transitions.command(model("x"), RestartRun(run_id="first", new_run_id="run-4")))
    assert isinstance(refused, Conflict)
    assert (refused.code, refused.evidence) == ("start_no_progress", {"run": "run-3", "depth": 3})
    assert isinstance(restart(scene, "first", "run-4", person=True), Applied)
    row = scene.row(RUNS, "run-4")
    assert (row.cause, row.depth) == (None, 0)


def test_a_restart_waits_until_the_session_has_answered_an_end(scene: Stage) -> None:
    """Refused while the turn-starting message of an end is with the session, whoever asks; not before, not after."""
    pi = finished(scene)
    scene.host(PresentRun(run_id="run-0", instructions="Tell the user."))
    assert isinstance(restart(scene, "run-0", "early"), Applied), "it was not given out yet"
    scene.ask(CancelRun(run_id="early"))
    message = pi.receive("terminal:run-0").message
    pi.begin(message, run="run-0")
    for person in (False, True):
        refused = restart(scene, "run-0", f"no-{person}", person=person)
        assert isinstance(refused, Conflict)
        assert (refused.code, refused.evidence["message"]) == ("presentation_pending", message)
    pi.end(message, run="run-0")
    assert isinstance(restart(scene, "run-0", "late"), Applied)
