"""Sessions: one coordinator, the idle boundary, and what evidence makes of messages (page 07)."""

from itertools import permutations
from typing import Any

import pytest

from runwright.engine.commands.client import CancelRun, PauseRun, ResumeRun
from runwright.engine.commands.host import FireTimer, TimeOutRun
from runwright.engine.commands.worker import AskSession, CompleteRun, ExitWorker, FailRun, FinishNode, Ready, StartNode
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.events.message import MessageQueued
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.turns import TURNS
from support.graphs import graph, node
from support.scripted_session import ScriptedSession, owned
from support.stage import Stage, queue_command

FLOW = graph(node("ask", "agent", attempts=2), node("end"))
ASK = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="Do it", contract={"type": "string"})


def queued(scene: Stage, run_id: str = "run-1", session: str = "s1", **more: Any) -> ScriptedSession:
    """A run that waits for its session's boundary."""
    pi = ScriptedSession(scene, session)
    scene.queue(FLOW, run_id, session=session, **more)
    return pi


def asked(scene: Stage, run_id: str = "run-1", session: str = "s1", **how: Any) -> ScriptedSession:
    """A run that waits for its session's answer."""
    pi = queued(scene, run_id, session)
    pi.settle()
    limited = AskSession(
        **{**{n: getattr(ASK, n) for n in ("path", "visit", "attempt", "kind", "prompt", "contract")}, **how}
    )
    scene.applied(scene.claim(run_id), StartNode(path="ask", visit=1, attempt=1), limited)
    return pi


def step(scene: Stage, ordinal: int = 1) -> str:
    """The ID of a step message of the only request."""
    (request,) = scene.rows(REQUESTS)
    return f"step:{request.request}:{ordinal}"


def states(scene: Stage) -> dict[str, str]:
    """The state of each message by the end of its ID."""
    return {each.message: each.state for each in scene.rows(MESSAGES)}


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


# --- messages -----------------------------------------------------------------------------------------------------


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


# --- follow-ups ---------------------------------------------------------------------------------------------------


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
