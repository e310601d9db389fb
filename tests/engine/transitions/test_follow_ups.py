"""Follow-ups: sent once their run has completed, cancelled with any other end, and bounded."""

import pytest

from runwright.engine.commands.client import CancelRun
from runwright.engine.commands.host import TimeOutRun
from runwright.engine.commands.worker import CompleteRun, ExitWorker, FailRun, FinishNode, StartNode
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.turns import TURNS
from support.asking_sessions import queued, states
from support.scripted_session import ScriptedSession, owned
from support.stage import Stage


def complete(scene: Stage) -> None:
    """End the only run well."""
    end = StartNode(path="end", visit=1, attempt=1)
    done = FinishNode(path="end", visit=1, attempt=1, outcome="completed", output=1)
    scene.applied(scene.claim(), end, done, CompleteRun(), ExitWorker(outcome="finished"))


def test_a_follow_up_is_sent_once_its_run_has_completed(scene: Stage) -> None:
    """Not before; and never into another session."""
    pi = queued(scene)
    foreign = ScriptedSession(scene, "s2").follow_up("run-1", "x")
    assert isinstance(foreign, Conflict)
    assert foreign.code == "not_found"
    first = pi.follow_up("run-1", "And then?", key="k")
    again = pi.follow_up("run-1", "And then?", key="k")
    other = pi.follow_up("run-1", "Other", key="k")
    assert isinstance(first, Applied)
    assert isinstance(again, Adopted)
    assert isinstance(other, Conflict)
    assert pi.current is None
    pi.settle()
    complete(scene)
    handed = pi.receive()
    assert (handed.message, handed.starts_turn) == ("follow_up:run-1:1", True)
    assert owned(pi.begin(handed.message)) == "active"
    assert scene.row(TURNS, pi.turns[-1]).run_id is None
    late = pi.follow_up("run-1", "x")
    assert isinstance(late, Conflict)
    assert late.code == "already_terminal"


@pytest.mark.parametrize("end", ["cancel", "fail", "time_out"])
def test_any_other_end_cancels_it(scene: Stage, end: str) -> None:
    """With the end, in its transaction."""
    pi = queued(scene)
    pi.follow_up("run-1", "And then?")
    pi.settle()
    worker = scene.claim()
    match end:
        case "cancel":
            scene.ask(CancelRun(run_id="run-1"))
        case "fail":
            scene.applied(worker, FailRun(outcome="failed", code="node_failed", phase="execute", message="m"))
        case _:
            scene.host(TimeOutRun(run_id="run-1"))
    assert states(scene) == {"follow_up:run-1:1": "cancelled"}
    assert pi.current is None


def test_a_follow_up_is_bounded(scene: Stage) -> None:
    """64 KiB, never cut."""
    pi = queued(scene)
    assert isinstance(pi.follow_up("run-1", "x" * 65_536), Applied)
    large = pi.follow_up("run-1", "x" * 65_537)
    assert isinstance(large, Conflict)
    assert (large.code, large.evidence["what"]) == ("payload_too_large", "follow_up")
