"""Model turns: whether a run owns one, equal repeats, and what an end makes of the run (page 07, "Turns")."""

from typing import Any

import pytest

from runwright.engine.commands.client import CancelRun, PauseRun, ResumeRun
from runwright.engine.commands.host import FireTimer, ParkIdleRun
from runwright.engine.commands.session import ReportTurn, TurnEnd
from runwright.engine.commands.worker import AskSession, CloseRequest, FinishNode, StartNode, SubmitCandidate
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS, RequestRow
from runwright.projections.control.runs import RUNS
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.turns import TURNS
from runwright.projections.control.visits import VISITS
from support.graphs import graph, node
from support.scripted_session import ScriptedSession, owned
from support.stage import Stage

FLOW = graph(node("ask", "agent", attempts=2), node("end"))


@pytest.fixture
def pi(scene: Stage) -> ScriptedSession:
    """A session whose run waits for its answer."""
    session = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    session.settle()
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="Do it", contract=None)
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), ask)
    return session


def request(scene: Stage) -> RequestRow:
    """The only request."""
    (row,) = scene.rows(REQUESTS)
    return row


def test_a_turn_of_a_sent_step_is_the_runs(scene: Stage, pi: ScriptedSession) -> None:
    """S54: the receipt names it; an error ends exactly that turn, and the run lives."""
    m = pi.receive().message
    begun = pi.begin(m, turn="t1")
    assert isinstance(begun, Applied)
    receipt = begun.value
    assert (receipt.schema, receipt.ownership) == ("runwright.turn-receipt.v1", "active")
    assert (receipt.turn.message, receipt.turn.run, receipt.turn.session) == (m, "run-1", "s1")
    ended = pi.end(m, "error", turn="t1")
    assert owned(ended) == "settled"
    assert scene.row(TURNS, "t1").stop_reason == "error"
    assert scene.row(RUNS, "run-1").finished_at is None


@pytest.mark.parametrize("what", ["pending", "unknown", "foreign", "notification"])
def test_a_turn_of_anything_else_is_nobodys(scene: Stage, pi: ScriptedSession, what: str) -> None:
    """Absent, and nothing is written."""
    m = pi.take().message
    before = scene.log.head()
    match what:
        case "pending":
            result = pi.begin(m)
        case "unknown":
            result = pi.begin("step:other:1")
        case "foreign":
            result = ScriptedSession(scene, "s2").begin(m)
            before = scene.log.head()
        case _:
            result = pi.begin(m, run="run-2")
    assert owned(result) == "absent"
    assert isinstance(result, Adopted)
    assert result.value.turn is None
    assert scene.log.head() == before


def test_equal_repeats_adopt_and_others_change_nothing(scene: Stage, pi: ScriptedSession) -> None:
    """S55: in any order; the stored turn stays as it is."""
    m = pi.receive().message
    pi.begin(m, turn="t1")
    repeated = pi.begin(m, turn="t1")
    assert isinstance(repeated, Adopted)
    assert owned(repeated) == "active"
    how: dict[str, Any] = {"entry": "e", "text": "done"}
    assert isinstance(pi.end(m, "completed", turn="t1", **how), Applied)
    stored, head = scene.row(TURNS, "t1"), scene.log.head()
    late = pi.begin(m, turn="t1")
    assert (owned(late), isinstance(late, Adopted)) == ("settled", True)
    assert isinstance(pi.end(m, "completed", turn="t1", **how), Adopted)
    others = [
        pi.end(m, "error", turn="t1", **how),
        pi.end(m, "completed", turn="t1", entry="e", text="other"),
        pi.end(m, "completed", turn="t1", entry="f", text="done"),
        pi.end(m, "completed", turn="t1", run="run-2", **how),
        pi.end("step:other:1", "completed", turn="t1", **how),
        pi.begin("step:other:1", turn="t1"),
    ]
    for each in others:
        assert isinstance(each, Conflict)
        assert (each.code, each.evidence["turn"]) == ("revision_changed", "t1")
    assert scene.row(TURNS, "t1") == stored
    assert scene.log.head() == head


def test_one_open_turn_per_session(scene: Stage, pi: ScriptedSession) -> None:
    """Another one is a controlled conflict that names the first."""
    m = pi.receive().message
    pi.begin(m, turn="t1")
    second = pi.begin(m, turn="t2")
    assert isinstance(second, Conflict)
    assert (second.evidence["open"], second.evidence["message"]) == ("t1", m)
    assert [each.turn for each in scene.rows(TURNS)] == ["t1"]


def test_a_message_causes_one_turn(scene: Stage, pi: ScriptedSession) -> None:
    """What a person types after it is not the run's."""
    m = pi.work("aborted")
    assert owned(pi.begin(m)) == "absent"
    assert len(scene.rows(TURNS)) == 1


def test_the_end_of_an_unknown_turn_is_nobodys(scene: Stage, pi: ScriptedSession) -> None:
    """Nothing was accepted, so nothing ends."""
    m = pi.receive().message
    assert owned(pi.end(m, turn="t9")) == "absent"
    assert scene.rows(TURNS) == []


# --- what an end makes of the run ---------------------------------------------------------------------------------


def test_unproductive_ends_remind_twice_and_then_fail_the_attempt(scene: Stage, pi: ScriptedSession) -> None:
    """The third finishes it as failed, and the run goes on to route that."""
    for number in (1, 2):
        pi.work()
        row = request(scene)
        assert (row.unproductive, row.state) == (number, "open")
        assert scene.row(MESSAGES, row.message or "").reason == "reminder"
    pi.work()
    row = request(scene)
    assert (row.state, row.cause) == ("closed", "failed")
    visit = scene.row(VISITS, "run-1", "ask")
    assert (visit.open, visit.outcome, visit.code) == (False, "failed", "missing_submission")
    assert scene.row(QUEUE, "run-1").eligible
    assert [each.state for each in scene.rows(MESSAGES)] == ["sent"] * 3


def test_errors_wait_longer_and_the_third_in_a_row_pauses(scene: Stage, pi: ScriptedSession) -> None:
    """C28: 5 s, 30 s, then paused with `provider_error`; a resume asks once more, and counts anew."""
    for seconds in (5, 30):
        pi.work("error")
        (timer,) = scene.rows(TIMERS, run_id="run-1")
        assert (timer.kind, timer.due) == ("delivery", scene.clock.us + seconds * 1_000_000)
        current = pi.current
        assert current is None or not current.deliver
        scene.wait(seconds)
        scene.host(FireTimer(run_id="run-1", kind="delivery"))
        assert not scene.row(QUEUE, "run-1").eligible
    pi.work("error")
    run, queue = scene.row(RUNS, "run-1"), scene.row(QUEUE, "run-1")
    assert (run.paused, queue.reason, queue.code) == (True, "provider_error", "provider_error")
    assert scene.rows(TIMERS, run_id="run-1") == []
    assert all(each.state == "sent" for each in scene.rows(MESSAGES))
    assert pi.current is None
    scene.ask(ResumeRun(run_id="run-1"))
    assert scene.row(QUEUE, "run-1").reason == "waiting"
    pi.work("error")
    assert not scene.row(RUNS, "run-1").paused


def test_a_completed_turn_sets_the_errors_back(scene: Stage, pi: ScriptedSession) -> None:
    """Only errors in a row count, and they are no unproductive ends."""
    for reason in ("error", "error", "completed", "error", "error"):
        pi.work(reason)
        if scene.rows(TIMERS, run_id="run-1"):
            scene.host(FireTimer(run_id="run-1", kind="delivery"))
    row = request(scene)
    assert (row.errors, row.unproductive) == (2, 1)
    assert not scene.row(RUNS, "run-1").paused


def test_an_aborted_turn_pauses_and_takes_the_pending_step_back(scene: Stage, pi: ScriptedSession) -> None:
    """In the same transaction; it counts for neither bound."""
    m = pi.work("aborted")
    row = request(scene)
    assert (row.unproductive, row.errors) == (0, 0)
    assert scene.row(RUNS, "run-1").paused
    assert scene.row(MESSAGES, m).state == "sent"
    assert scene.types()[-2:] == ["turn.ended", "run.paused"]


# --- stalls -------------------------------------------------------------------------------------------------------


def test_only_an_idle_report_ends_a_turn_that_nobody_ended(scene: Stage, pi: ScriptedSession) -> None:
    """S57: a restart and a busy report leave it open; the report at rest ends it, and the next turn is not its."""
    m = pi.receive().message
    pi.begin(m, turn="t1")
    later = scene.succeed("second")
    again = ScriptedSession(later, "s1")
    again.report(m, idle=False)
    again.report(m, pending=True)
    assert later.row(TURNS, "t1").state == "open"
    again.report(m)
    assert later.row(TURNS, "t1").state == "lost"
    assert owned(again.begin(m, turn="t2")) == "absent"


def test_a_stalled_turn_whose_message_shows_was_unproductive(scene: Stage, pi: ScriptedSession) -> None:
    """One reminder, however often that is reported."""
    m = pi.receive().message
    pi.begin(m)
    for _ in range(3):
        pi.report(m)
    row = request(scene)
    assert (row.unproductive, row.messages) == (1, 2)


def test_a_stall_that_named_nothing_is_counted_when_its_message_shows(scene: Stage, pi: ScriptedSession) -> None:
    """The report that ends the turn says nothing about a message it does not name."""
    m = pi.receive().message
    pi.begin(m)
    pi.report()
    assert request(scene).unproductive == 0
    pi.report(m)
    assert request(scene).unproductive == 1


def test_a_stalled_turn_whose_message_left_the_branch_is_asked_again(scene: Stage, pi: ScriptedSession) -> None:
    """Without counting an unproductive end."""
    m = pi.receive().message
    pi.begin(m)
    pi.branch.clear()
    pi.report(m)
    row = request(scene)
    assert (row.unproductive, row.messages) == (0, 2)
    assert scene.row(MESSAGES, row.message or "").reason == "resumed"


# --- ends of attempts ---------------------------------------------------------------------------------------------


def returned(scene: Stage, pi: ScriptedSession) -> None:
    """A worker that comes back to the open question, with a reminder of it pending and both its timers set."""
    scene.host(ParkIdleRun(run_id="run-1", reason="environment_missing"))
    scene.ask(ResumeRun(run_id="run-1"))
    scene.claim()
    pi.work("completed")
    pi.work("error")
    assert request(scene).unproductive == 1
    assert {each.kind for each in scene.rows(TIMERS, run_id="run-1")} >= {"delivery"}


@pytest.mark.parametrize("way", ["finish", "close"])
def test_an_attempt_that_its_worker_ends_takes_its_step_back(scene: Stage, pi: ScriptedSession, way: str) -> None:
    """No message of it stays to be sent, and no timer of it falls due for the next attempt."""
    returned(scene, pi)
    failed = FinishNode(path="ask", visit=1, attempt=1, outcome="failed", code="node_failed")
    close = CloseRequest(request=request(scene).request, cause="failed")
    scene.applied(scene.last, *((failed,) if way == "finish" else (close, failed)))
    assert request(scene).state == "closed"
    assert {each.state for each in scene.rows(MESSAGES)} <= {"sent", "cancelled"}
    assert scene.rows(TIMERS, run_id="run-1") == []
    scene.applied(scene.last, StartNode(path="ask", visit=1, attempt=2))


def test_a_worker_does_not_answer_for_a_session(scene: Stage, pi: ScriptedSession) -> None:
    """It asked, and the session answers; its candidate is refused without a trace."""
    returned(scene, pi)
    head = scene.log.head()
    (result,) = scene.tell(scene.last, SubmitCandidate(request=request(scene).request, candidate=1))
    assert isinstance(result, Conflict)
    assert result.evidence["rule"] == "answered_by_its_session"
    assert scene.log.head() == head


def test_a_deadline_ends_the_wait_for_the_next_delivery_too(scene: Stage) -> None:
    """The next attempt is asked at once, however the turns of this one ended."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    pi.settle()
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="p", contract=None, limit=1_000_000)
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), ask)
    pi.work("error")
    assert {each.kind for each in scene.rows(TIMERS, run_id="run-1")} == {"deadline", "delivery"}
    scene.host(FireTimer(run_id="run-1", kind="deadline"))
    assert scene.rows(TIMERS, run_id="run-1") == []


def test_a_steps_time_runs_on_while_nobody_can_drive_its_run(scene: Stage) -> None:
    """Its workflow or an executor is missing: the time that began with its message ends the attempt all the same."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    pi.settle()
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="p", contract=None, limit=1_000_000)
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), ask)
    scene.host(ParkIdleRun(run_id="run-1", reason="environment_missing"))
    assert scene.rows(TIMERS, run_id="run-1") == [], "it was not sent yet"
    pi.work("error")
    scene.host(ParkIdleRun(run_id="run-1", reason="environment_missing"))
    assert {each.kind for each in scene.rows(TIMERS, run_id="run-1")} == {"deadline", "delivery"}
    scene.host(FireTimer(run_id="run-1", kind="deadline"))
    assert (request(scene).state, request(scene).cause) == ("closed", "timed_out")
    queue = scene.row(QUEUE, "run-1")
    assert (queue.reason, queue.eligible) == ("environment_missing", False)
    scene.ask(ResumeRun(run_id="run-1"))
    assert scene.row(QUEUE, "run-1").eligible


def test_only_a_node_that_asks_may_ask_a_session(scene: Stage) -> None:
    """A request of any other node would outlive the run: it is refused without a trace."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    pi.settle()
    scene.applied(scene.claim(), StartNode(path="end", visit=1, attempt=1))
    head = scene.log.head()
    for kind in ("agent", "assistant"):
        ask = AskSession(path="end", visit=1, attempt=1, kind=kind, prompt="p", contract=None)
        (result,) = scene.tell(scene.last, ask)
        assert isinstance(result, Conflict)
        assert result.evidence["rule"] == "no_executor"
    assert scene.log.head() == head


# --- ends of runs -------------------------------------------------------------------------------------------------


def test_a_late_equal_end_adopts_what_the_runs_end_did(scene: Stage, pi: ScriptedSession) -> None:
    """S56: in both orders no open turn is left, and the run stays ended."""
    m = pi.receive().message
    pi.begin(m, turn="t1")
    scene.ask(CancelRun(run_id="run-1"))
    assert scene.row(TURNS, "t1").state == "lost"
    head = scene.log.head()
    late = pi.end(m, "completed", turn="t1", entry="e", text="x")
    assert isinstance(late, Adopted)
    assert owned(late) == "settled"
    assert isinstance(pi.end(m, "completed", turn="t1", run="other"), Conflict)
    assert owned(pi.begin(m, turn="t2")) == "absent"
    assert scene.log.head() == head


def test_the_end_of_a_turn_and_of_its_run_race(scene: Stage, pi: ScriptedSession) -> None:
    """S56: handed in together, one commit or two; whatever wins, nothing is left open."""
    m = pi.receive().message
    pi.begin(m, turn="t1")
    end = ReportTurn(
        session="s1", epoch=pi.epoch, turn="t1", message=m, run="run-1", ended=TurnEnd(stop_reason="completed")
    )
    answers = [
        scene.transitions.session(end),
        scene.transitions.command(scene.caller(), CancelRun(run_id="run-1")),
        scene.transitions.session(end),
    ]
    results = [each.result(timeout=30) for each in answers]
    assert all(isinstance(each, Applied | Adopted) for each in results), results
    assert scene.row(RUNS, "run-1").status == "cancelled"
    assert [each.state for each in scene.rows(TURNS)] in (["ended"], ["lost"])
    assert not [each for each in scene.rows(MESSAGES) if each.state == "pending"]


def test_a_paused_run_owns_no_new_turn(scene: Stage, pi: ScriptedSession) -> None:
    """The pause came between the message and its turn."""
    m = pi.receive().message
    scene.ask(PauseRun(run_id="run-1"))
    assert owned(pi.begin(m)) == "absent"
