"""Law 6: a terminal run has no open request, no claim, no timer, no open attempt, and holds no session."""

from collections.abc import Callable
from typing import Any

import pytest

from runwright.engine.commands.client import CancelRun, PauseRun, ResumeRun
from runwright.engine.commands.host import FireTimer, TimeOutRun
from runwright.engine.commands.worker import (
    AskSession,
    BeginEffect,
    CompleteRun,
    FailRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    ReserveEffect,
    StartNode,
    Timer,
)
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.events.message import MessageQueued
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.turns import TURNS
from runwright.projections.control.visits import VISITS
from support.graphs import graph, node
from support.scripted_session import ScriptedSession, owned
from support.stage import Stage, settled

FLOW = graph(
    node("ask", "agent"),
    node("reserved", "action", contract="manual"),
    node("applying", "action", contract="idempotent"),
    node("rest", "wait"),
    node("end"),
)
ONE = "run-1"


def asking(scene: Stage) -> None:
    """An open request of an open attempt."""
    scene.applied(
        scene.claim(),
        StartNode(path="ask", visit=1, attempt=1),
        OpenRequest(path="ask", visit=1, attempt=1, kind="agent", prompt="p", contract=None),
    )


def reserved(scene: Stage) -> None:
    """A reserved effect."""
    scene.applied(
        scene.claim(),
        StartNode(path="reserved", visit=1, attempt=1),
        ReserveEffect(path="reserved", visit=1, request=1),
    )


def applying(scene: Stage) -> None:
    """An effect in application."""
    scene.applied(
        scene.claim(),
        StartNode(path="applying", visit=1, attempt=1),
        ReserveEffect(path="applying", visit=1, request=1),
        BeginEffect(path="applying", visit=1),
    )


def waiting(scene: Stage) -> None:
    """Parked for a timer."""
    timer = Timer(kind="wait", due=scene.clock.us + 1)
    scene.applied(scene.claim(), StartNode(path="rest", visit=1, attempt=1), ParkRun(reason="waiting", timer=timer))


def paused(scene: Stage) -> None:
    """Paused while it waited."""
    waiting(scene)
    scene.ask(PauseRun(run_id=ONE))


def cancel(scene: Stage) -> None:
    """Cancelled."""
    assert isinstance(scene.ask(CancelRun(run_id=ONE)), Applied)


def time_out(scene: Stage) -> None:
    """Its own time limit."""
    assert isinstance(scene.host(FireTimer(run_id=ONE, kind="run")), Applied)


def fail(scene: Stage) -> None:
    """A failure that its worker knows of."""
    scene.applied(scene.last, FailRun(outcome="failed", code="node_failed", phase="execute", message="m", error="e"))


ENDS = [(state, end) for state in (asking, reserved, applying) for end in (cancel, time_out, fail)]
ENDS += [(state, end) for state in (waiting, paused) for end in (cancel, time_out)]


@pytest.mark.parametrize(("state", "end"), ENDS, ids=[f"{state.__name__}-{end.__name__}" for state, end in ENDS])
def test_an_end_closes_everything_in_one_append(
    scene: Stage, state: Callable[[Stage], None], end: Callable[[Stage], None]
) -> None:
    """Whatever it was doing, whatever ended it; what is there of an effect stays accountable."""
    scene.queue(FLOW, timeout=60_000_000)
    state(scene)
    before = scene.log.head().position
    end(scene)
    closed(scene)
    streams = {each.stream for each in scene.log.read_all(after=before)}
    assert f"run/{ONE}" in streams


def test_a_run_that_ends_before_it_started_gives_its_session_back(scene: Stage) -> None:
    """The reservation goes in the same append."""
    scene.queue(FLOW, session="s1")
    assert [each.run_id for each in scene.rows(RESERVATIONS)] == [ONE]
    cancel(scene)
    closed(scene)


def closed(scene: Stage) -> None:
    """Nothing is left open."""
    run, queue = scene.row(RUNS, ONE), scene.row(QUEUE, ONE)
    assert run.finished_at is not None
    assert not run.paused
    assert (queue.owner, queue.token_hash, queue.eligible) == (None, None, False)
    assert not any(each.open for each in scene.rows(VISITS, run_id=ONE))
    assert not any(each.state in ("open", "validating") for each in scene.rows(REQUESTS, run_id=ONE))
    assert scene.rows(TIMERS, run_id=ONE) == []
    assert scene.rows(RESERVATIONS) == []
    assert all(each.state in ("cancelled", "ambiguous") for each in scene.rows(EFFECTS))
    assert scene.row(TERMINAL, ONE).outcome == run.status


def test_an_open_request_ends_with_its_run(scene: Stage) -> None:
    """Cancelled with it, and no answer is taken any more."""
    scene.queue(FLOW)
    asking(scene)
    cancel(scene)
    closed(scene)
    (request,) = scene.rows(REQUESTS)
    assert (request.state, request.cause) == ("closed", "cancelled")


def test_an_effect_that_was_never_applied_is_cancelled_and_one_under_way_is_ambiguous(scene: Stage) -> None:
    """The record says which."""
    scene.queue(FLOW)
    reserved(scene)
    cancel(scene)
    scene.queue(FLOW, "run-2")
    scene.applied(
        scene.claim("run-2"),
        StartNode(path="applying", visit=1, attempt=1),
        ReserveEffect(path="applying", visit=1, request=1),
        BeginEffect(path="applying", visit=1),
    )
    scene.ask(CancelRun(run_id="run-2"))
    assert {each.run_id: each.state for each in scene.rows(EFFECTS)} == {ONE: "cancelled", "run-2": "ambiguous"}


def test_completion_closes_the_same(scene: Stage) -> None:
    """Also the timer of the run's own limit."""
    scene.queue(FLOW, timeout=60_000_000)
    scene.applied(
        scene.claim(),
        StartNode(path="end", visit=1, attempt=1),
        FinishNode(path="end", visit=1, attempt=1, outcome="completed", output=1),
        CompleteRun(),
    )
    closed(scene)


def test_nothing_moves_a_run_that_has_ended(scene: Stage) -> None:
    """Pause, resume, timers and limits are told how it ended, and nothing is written."""
    scene.queue(FLOW)
    waiting(scene)
    cancel(scene)
    before = scene.log.head()
    for command in (PauseRun(run_id=ONE), ResumeRun(run_id=ONE)):
        result = scene.ask(command)
        assert isinstance(result, Conflict)
        assert (result.code, result.evidence["outcome"]) == ("already_terminal", "cancelled")
    for order in (FireTimer(run_id=ONE, kind="wait"), TimeOutRun(run_id=ONE)):
        result = scene.host(order)
        assert isinstance(result, Conflict)
        assert result.code == "already_terminal"
    assert scene.log.head() == before


# --- sessions -----------------------------------------------------------------------------------------------------


def talking(scene: Stage) -> ScriptedSession:
    """A run whose session works on its step, with a reminder, a decision, a notification and a follow-up unsent."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1", timeout=60_000_000)
    pi.settle()
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="p", contract=None, limit=50_000_000)
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), ask)
    pi.begin(pi.receive().message, turn="open")
    pi.follow_up(ONE, "And then?")
    (request,) = scene.rows(REQUESTS)
    facts: dict[str, Any] = {"session": "s1", "source": request.request, "starts_turn": False}
    told = [
        MessageQueued(message="step:again", kind="step", order=7, reason="resumed", **facts),
        MessageQueued(message="decision:1", kind="decision", order=8, **facts),
        MessageQueued(message="notification:1", kind="notification", order=9, **facts),
    ]
    stream = f"run/{ONE}"
    settled(scene.log.transact(lambda tx: tx.append(stream, tx.version(stream), told, actor="operator")))
    return pi


@pytest.mark.parametrize("end", [cancel, time_out], ids=lambda end: end.__name__)
def test_an_end_closes_what_its_session_has_of_it_in_the_same_append(
    scene: Stage, end: Callable[[Stage], None]
) -> None:
    """S47: turns are lost, steps, decisions and follow-ups cancelled; what was only to be told is still told."""
    pi = talking(scene)
    before = scene.log.head().position
    end(scene)
    closed(scene)
    assert [each.state for each in scene.rows(TURNS)] == ["lost"]
    states = {each.message: each.state for each in scene.rows(MESSAGES)}
    sent = next(name for name in states if name.startswith("step:") and name != "step:again")
    assert states == {
        sent: "sent",
        "step:again": "cancelled",
        "decision:1": "cancelled",
        "notification:1": "pending",
        f"follow_up:{ONE}:2": "cancelled",
    }
    written = [each for each in scene.log.read_all(after=before) if each.stream == f"run/{ONE}"]
    assert {each.at for each in written} == {written[0].at}
    late = pi.end(sent, "completed", turn="open")
    assert isinstance(late, Adopted)
    assert owned(late) == "settled"


def test_completion_keeps_follow_ups(scene: Stage) -> None:
    """They are what comes after it; everything else is closed as by any end."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    pi.follow_up(ONE, "And then?")
    pi.settle()
    scene.applied(
        scene.claim(),
        StartNode(path="end", visit=1, attempt=1),
        FinishNode(path="end", visit=1, attempt=1, outcome="completed", output=1),
        CompleteRun(),
    )
    closed(scene)
    assert [each.state for each in scene.rows(MESSAGES)] == ["pending"]


def test_a_terminal_run_starts_no_turn_of_a_step(scene: Stage) -> None:
    """Its message was sent before the end; the turn comes after it."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    pi.settle()
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="p", contract=None)
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), ask)
    message = pi.receive().message
    cancel(scene)
    assert owned(pi.begin(message)) == "absent"
    assert scene.rows(TURNS) == []
