"""Sessions: one coordinator, one run that holds each, and the idle boundary at which it begins (page 07)."""

from itertools import permutations

import pytest

from runwright.engine.commands.session import MissSession, ReturnSession
from runwright.engine.commands.worker import Ready
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS
from runwright.projections.control.turns import TURNS
from support.asking_sessions import FLOW, asked, queued
from support.scripted_session import ScriptedSession
from support.stage import Stage, queue_command

# --- boundaries -------------------------------------------------------------------------------------------------


def test_a_run_in_a_session_waits_for_its_boundary(scene: Stage) -> None:
    """Nothing else makes it eligible; the first boundary does, and it stays so."""
    pi = queued(scene)
    assert not scene.row(QUEUE, "run-1").eligible
    for idle, pending in ((False, False), (True, True), (False, True)):
        assert isinstance(pi.report(idle=idle, pending=pending), Adopted)
        assert not scene.row(QUEUE, "run-1").eligible
    assert pi.settle().touched == ("run-1",)
    row = scene.row(QUEUE, "run-1")
    assert (row.eligible, row.cause) == (True, "boundary")
    assert scene.types().count("run.eligible") == 1


@pytest.mark.parametrize("order", list(permutations(("settled", "attach", "busy", "other"))))
def test_any_number_of_reports_in_any_order_starts_it_once(scene: Stage, order: tuple[str, ...]) -> None:
    """S06: two coordinators, repeated and reordered: eligible exactly once, claimed exactly once."""
    first = queued(scene)
    second = ScriptedSession(scene, "s2")
    for each in (*order, *order):
        match each:
            case "settled":
                first.settle()
            case "attach":
                first.attach()
                first.settle()
            case "busy":
                first.report(idle=False)
            case _:
                second.settle()
    assert scene.types().count("run.eligible") == 1
    scene.claim()
    first.settle()
    assert scene.types().count("run.eligible") == 1


def test_a_fenced_coordinator_reports_nothing(scene: Stage) -> None:
    """Each attach fences the one before, and one that left is gone; nothing is written."""
    old = queued(scene)
    new = ScriptedSession(scene, "s1")
    before = scene.log.head()
    refused = [old.report(), old.deliver("m"), old.begin("m"), old.detach()]
    assert scene.log.head() == before
    for each in refused:
        assert isinstance(each, Conflict)
        assert (each.code, each.evidence["reason"]) == ("claim_lost", "owner_changed")
    assert isinstance(new.detach(), Applied)
    left = scene.log.head()
    assert isinstance(new.detach(), Adopted), "its reply may have been lost"
    assert isinstance(old.detach(), Conflict)
    assert scene.log.head() == left
    gone = new.report()
    assert isinstance(gone, Conflict)
    assert gone.evidence["reason"] == "missing"
    assert not scene.row(QUEUE, "run-1").eligible


def test_a_missed_coordinator_is_gone_until_it_returns(scene: Stage) -> None:
    """Only a turn of a run has it missed, in its own epoch alone; it comes back to what it left, if nobody has come."""
    pi = asked(scene)
    assert isinstance(pi.tell(MissSession(session="s1", epoch=pi.epoch)), Adopted)
    handed = pi.receive()
    pi.begin(handed.message)
    before = scene.log.head()
    assert isinstance(pi.tell(MissSession(session="s1", epoch="another")), Conflict)
    assert isinstance(pi.tell(ReturnSession(session="s1", epoch=pi.epoch)), Adopted), "it is there"
    assert scene.log.head() == before
    assert isinstance(pi.tell(MissSession(session="s1", epoch=pi.epoch)), Applied)
    assert [each.type for each in scene.log.read("session/s1")] == ["session.attached", "session.detached"]
    assert isinstance(pi.report(handed.message), Conflict)
    assert [each.state for each in scene.rows(TURNS)] == ["open"]
    assert isinstance(pi.tell(ReturnSession(session="s1", epoch=pi.epoch)), Applied)
    assert isinstance(pi.report(handed.message, idle=False), Adopted), "it knew this before, and lost no word"
    pi.tell(MissSession(session="s1", epoch=pi.epoch))
    new = ScriptedSession(scene, "s1", branch=pi.branch)
    assert isinstance(pi.tell(ReturnSession(session="s1", epoch=pi.epoch)), Conflict)
    assert isinstance(new.end(handed.message, turn=pi.turns[-1]), Applied)
    assert scene.types().count("message.delivered") == 1


def test_boundaries_belong_to_their_own_session(scene: Stage) -> None:
    """Another session's boundary starts nothing of this one."""
    first, second = queued(scene), queued(scene, "run-2", "s2")
    second.settle()
    assert (scene.row(QUEUE, "run-1").eligible, scene.row(QUEUE, "run-2").eligible) == (False, True)
    first.settle()
    assert scene.row(QUEUE, "run-1").eligible


def test_eligibility_outlives_the_holder(scene: Stage) -> None:
    """The next holder needs no further report."""
    queued(scene).settle()
    assert scene.succeed("second").claim().generation == 1


def test_a_session_id_is_checked_and_never_cut(scene: Stage) -> None:
    """Up to 128 of the letters that agents use."""
    for session in ("", "a b", "x" * 129, "ä"):
        refused = scene.ask(queue_command(FLOW, "run-1", session=session))
        assert isinstance(refused, Conflict)
        assert refused.code == "input_invalid"
    scene.queue(FLOW, session="x" * 128)


# --- one run per session ------------------------------------------------------------------------------------------


def test_a_held_session_names_who_holds_it(scene: Stage) -> None:
    """S03: workflow, run and time, in every state that holds it; another session is free."""
    pi = queued(scene)
    for stage_of_it in range(3):
        busy = scene.ask(queue_command(FLOW, "run-9", session="s1"))
        assert isinstance(busy, Conflict)
        assert (busy.code, busy.evidence["run"], busy.evidence["workflow"]) == ("session_busy", "run-1", "flow")
        assert str(busy.evidence["since"]).startswith("2023-11-14T")
        if stage_of_it == 0:
            pi.settle()
            worker = scene.claim(ready=False)
        elif stage_of_it == 1:
            scene.applied(worker, Ready())
    scene.queue(FLOW, "run-2", session="s2")
    assert scene.rows(RUNS, session="s1") == [scene.row(RUNS, "run-1")]
