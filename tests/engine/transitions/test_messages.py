"""Messages: handed out once, sent by evidence, asked for again, and bounded in how often they wake a session."""

from runwright.engine.commands.client import CancelRun, PauseRun, ResumeRun
from runwright.engine.commands.host import FireTimer
from runwright.engine.commands.worker import StartNode
from runwright.engine.decisions.message import QUIET
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.events.message import MessageQueued
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.timers import TIMERS
from support.asking_sessions import ASK, FLOW, asked, queued, states, step
from support.scripted_session import ScriptedSession, owned
from support.stage import Stage


def test_a_question_is_put_to_the_session_in_one_transaction(scene: Stage) -> None:
    """Request, message and park stand together, and the claim is gone."""
    asked(scene)
    assert scene.types()[-4:] == ["node.started", "request.opened", "message.queued", "run.parked"]
    assert scene.row(QUEUE, "run-1").owner is None
    assert scene.row(RUNS, "run-1").status == "waiting"
    events = [each for each in scene.log.read("run/run-1") if each.type == "message.queued"]
    event = events[0].event
    assert isinstance(event, MessageQueued)
    assert event.text is not None
    assert event.text.value == "Do it"


def test_a_message_is_looked_for_before_it_is_handed_out(scene: Stage) -> None:
    """After every attach the report comes first; only absence at rest counts."""
    pi, m = asked(scene), step(scene)
    current = pi.current
    assert current is not None
    assert (current.message, current.deliver, current.kind) == (m, False, "step")
    assert isinstance(pi.deliver(m), Conflict)
    pi.report(m, idle=False)
    pi.report(m, pending=True)
    assert isinstance(pi.deliver(m), Conflict)
    pi.report(m)
    current = pi.current
    assert current is not None
    assert (current.deliver, current.starts_turn) == (True, True)
    assert current.size > 0
    delivered = pi.deliver(m)
    assert isinstance(delivered, Applied)
    assert (delivered.value.number, delivered.value.starts_turn) == (1, True)
    assert states(scene) == {m: "pending"}


def test_a_coordinator_is_handed_a_message_once_and_again_after_a_minute(scene: Stage) -> None:
    """S61, same epoch: its own absent report proves nothing for 60 s; then one more send, and no third."""
    pi, m = asked(scene), step(scene)
    pi.take(m)
    pi.report(m)
    assert isinstance(pi.deliver(m), Conflict)
    scene.wait(61)
    pi.report(m)
    again = pi.deliver(m)
    assert isinstance(again, Applied)
    assert again.value.number == 2
    scene.wait(61)
    pi.report(m)
    assert isinstance(pi.deliver(m), Conflict)
    assert pi.current is None
    assert states(scene) == {m: "pending"}


def test_a_new_epoch_may_send_at_once(scene: Stage) -> None:
    """S61: while busy it stays pending and unsent; the usable absence allows one send."""
    pi, m = asked(scene), step(scene)
    pi.take(m)
    fresh = ScriptedSession(scene, "s1")
    fresh.report(m, idle=False)
    assert isinstance(fresh.deliver(m), Conflict)
    assert fresh.take(m).number == 2


def test_a_message_that_arrived_is_not_sent_again(scene: Stage) -> None:
    """S61: the replacement finds it on the branch, and it is sent."""
    pi, m = asked(scene), step(scene)
    pi.take(m)
    fresh = ScriptedSession(scene, "s1", branch=[m])
    fresh.report(m)
    row = scene.row(MESSAGES, m)
    assert (row.state, row.entry) == ("sent", "entry-0")
    assert isinstance(fresh.deliver(m), Conflict)
    assert isinstance(fresh.report(m), Adopted)


def test_a_turn_that_never_began_is_asked_for_again(scene: Stage) -> None:
    """N3: it arrived, its adapter died before the turn, and nothing would wake the agent: one reminder, at rest."""
    pi, m = asked(scene), step(scene)
    pi.take(m)
    pi.branch.append(m)
    pi.report(m)
    assert list(states(scene)) == [m], "whoever handed it in may still begin"
    fresh = ScriptedSession(scene, "s1", branch=[m])
    fresh.report(m, idle=False)
    assert list(states(scene)) == [m]
    fresh.report(m)
    fresh.report(m)
    assert states(scene) == {m: "sent", step(scene, 2): "pending"}
    assert scene.row(MESSAGES, step(scene, 2)).reason == "reminder"


def test_a_session_that_is_not_woken_is_not_reminded(scene: Stage) -> None:
    """It was told without a turn, and waits for a person: adapters that come and go end no attempt of it."""
    asked(scene)
    for _ in range(6):
        handed = ScriptedSession(scene, "s1").take()
    assert not handed.starts_turn
    for _ in range(4):
        ScriptedSession(scene, "s1", branch=[handed.message]).report(handed.message)
    assert states(scene) == {step(scene): "sent"}


def test_a_report_speaks_of_the_message_it_names(scene: Stage) -> None:
    """C30: idle and absent for one says nothing about another, and nobody else's message is touched."""
    pi, m = asked(scene), step(scene)
    scene.queue(FLOW, "run-2", session="s2")
    for name in ("step:unknown:1", "terminal:run-2"):
        assert isinstance(pi.report(name), Adopted)
    assert states(scene) == {m: "pending"}
    other = ScriptedSession(scene, "s2", branch=[m])
    other.report(m)
    assert states(scene) == {m: "pending"}


def test_evidence_makes_a_cancelled_message_sent(scene: Stage) -> None:
    """The pause came too late for it; its presence wins."""
    pi, m = asked(scene), step(scene)
    pi.take(m)
    scene.ask(PauseRun(run_id="run-1"))
    assert states(scene) == {m: "cancelled"}
    current = pi.current
    assert current is not None
    assert (current.message, current.deliver) == (m, False)
    pi.branch.append(m)
    pi.report(m)
    assert states(scene) == {m: "sent"}


def test_a_step_in_hand_is_taken_back_with_its_run(scene: Stage) -> None:
    """Its coordinator may keep it until the agent rests, and the run holds the session no more; it may show yet."""
    pi, m = asked(scene), step(scene)
    pi.take(m)
    scene.ask(CancelRun(run_id="run-1"))
    current = pi.current
    assert current is not None
    assert (current.message, current.state, current.deliver) == (m, "cancelled", False)
    pi.report(m)
    assert pi.current == current, "agents defer what they were handed"
    scene.wait(QUIET + 1)
    pi.report(m)
    assert pi.current is None


def test_a_step_that_left_the_branch_is_asked_again(scene: Stage) -> None:
    """The sent one stays sent; a new message with its own ID takes its place, once."""
    pi, m = asked(scene), step(scene)
    pi.receive(m)
    pi.branch.clear()
    pi.report(m, idle=False)
    assert list(states(scene)) == [m]
    pi.report(m)
    pi.report(m)
    assert states(scene) == {m: "sent", step(scene, 2): "pending"}
    assert scene.row(MESSAGES, step(scene, 2)).reason == "resumed"
    assert scene.row(REQUESTS, scene.rows(REQUESTS)[0].request).unproductive == 0


def test_a_steps_time_begins_with_its_first_message(scene: Stage) -> None:
    """Not before it is sent, not again with the next one, and the deadline ends the attempt."""
    pi = asked(scene, limit=60_000_000)
    m = step(scene)
    scene.wait(1_000)
    assert scene.rows(TIMERS, run_id="run-1") == []
    pi.receive(m)
    (timer,) = scene.rows(TIMERS, run_id="run-1")
    assert (timer.kind, timer.due) == ("deadline", scene.clock.us + 60_000_000)
    scene.wait(10)
    pi.branch.clear()
    pi.report(m)
    pi.receive(step(scene, 2))
    assert scene.rows(TIMERS, run_id="run-1") == [timer]
    assert isinstance(scene.host(FireTimer(run_id="run-1", kind="deadline")), Applied)
    row = scene.row(QUEUE, "run-1")
    assert (row.eligible, row.cause) == (True, "deadline")
    assert scene.rows(REQUESTS)[0].cause == "timed_out"


def test_an_earlier_message_that_is_not_eligible_blocks_nobody(scene: Stage) -> None:
    """A follow-up waits for the end of its run; the step behind it is handed out."""
    pi = queued(scene)
    assert isinstance(pi.follow_up("run-1", "And then?"), Applied)
    pi.settle()
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), ASK)
    assert pi.take().message == step(scene)


# --- pause and resume ---------------------------------------------------------------------------------------------


def test_pause_takes_an_unsent_step_back_and_resume_asks_anew(scene: Stage) -> None:
    """While paused nothing is handed out; afterwards one fresh message, and nothing has to start."""
    pi, m = asked(scene), step(scene)
    pi.report(m)
    scene.ask(PauseRun(run_id="run-1"))
    assert states(scene) == {m: "cancelled"}
    assert isinstance(pi.deliver(m), Conflict)
    assert isinstance(scene.ask(ResumeRun(run_id="run-1")), Applied)
    fresh = step(scene, 2)
    assert states(scene) == {m: "cancelled", fresh: "pending"}
    assert not scene.row(QUEUE, "run-1").eligible
    assert scene.row(RUNS, "run-1").status == "waiting"
    pi.receive(fresh)
    assert owned(pi.begin(fresh)) == "active"


# --- bounds -------------------------------------------------------------------------------------------------------


def test_a_tired_session_is_told_without_being_woken(scene: Stage) -> None:
    """Ten wake-ups in a row; then messages start no turn, until a person speaks."""
    pi = ScriptedSession(scene)
    for number in range(12):
        run_id = f"run-{number}"
        scene.queue(FLOW, run_id, session="s1")
        pi.settle()
        scene.applied(scene.claim(run_id), StartNode(path="ask", visit=1, attempt=1), ASK)
        handed = pi.receive()
        assert handed.starts_turn is (number < 10 or number == 11), number
        scene.ask(CancelRun(run_id=run_id))
        if number == 10:
            assert isinstance(pi.report(spoke=True), Applied)
            assert isinstance(pi.report(spoke=True), Adopted)
    assert scene.row(SESSIONS, "s1").wake_ups == 1


def test_one_attempt_wakes_its_session_five_times(scene: Stage) -> None:
    """However often its message is lost."""
    asked(scene)
    woken = []
    for _ in range(7):
        fresh = ScriptedSession(scene, "s1")
        woken.append(fresh.take().starts_turn)
    assert woken == [True] * 5 + [False] * 2
