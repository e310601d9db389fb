"""Pause, cancel and the run's own limit in every state that a run can be in, repeated and raced."""

from collections.abc import Callable
from concurrent.futures import wait
from typing import Any

import pytest

from runwright.engine.commands.client import AnswerRequest, CancelRun, PauseRun, RestartRun
from runwright.engine.commands.host import FireTimer, RecordExit, TimeOutRun
from runwright.engine.commands.worker import (
    BeginEffect,
    FinishNode,
    OpenRequest,
    ParkRun,
    ReserveEffect,
    StartNode,
    Timer,
)
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.visits import VISITS
from support.graphs import graph, node
from support.stage import Stage

FLOW = graph(
    node("act", "action", contract="manual"), node("ask", "checkpoint"), node("agent", "agent"), node("rest", "wait")
)
LIMIT = 60_000_000
Scene = Callable[[Stage], str]


def queued(scene: Stage) -> str:
    """Never claimed."""
    return scene.queue(FLOW, timeout=LIMIT)


def starting(scene: Stage) -> str:
    """Claimed, and not ready."""
    run_id = queued(scene)
    scene.claim(ready=False)
    return run_id


def ready(scene: Stage) -> str:
    """Ready, before its first node."""
    run_id = queued(scene)
    scene.claim()
    return run_id


def reserved(scene: Stage) -> str:
    """With an effect that was never tried."""
    run_id = ready(scene)
    scene.applied(
        scene.last, StartNode(path="act", visit=1, attempt=1), ReserveEffect(path="act", visit=1, request=None)
    )
    return run_id


def applying(scene: Stage) -> str:
    """With an effect under way."""
    run_id = reserved(scene)
    scene.applied(scene.last, BeginEffect(path="act", visit=1))
    return run_id


def between(scene: Stage) -> str:
    """Between two nodes."""
    run_id = ready(scene)
    scene.applied(
        scene.last,
        StartNode(path="rest", visit=1, attempt=1),
        FinishNode(path="rest", visit=1, attempt=1, outcome="completed", next="ask", output=None),
    )
    return run_id


def asking(scene: Stage) -> str:
    """Its executor is being asked."""
    run_id = ready(scene)
    opened = OpenRequest(path="agent", visit=1, attempt=1, kind="agent", prompt="?", contract={})
    scene.applied(scene.last, StartNode(path="agent", visit=1, attempt=1), opened)
    return run_id


def resting(scene: Stage) -> str:
    """Parked for a timer."""
    run_id = ready(scene)
    due = Timer(kind="wait", due=scene.clock.us + 1_000_000)
    scene.applied(scene.last, StartNode(path="rest", visit=1, attempt=1), ParkRun(reason="waiting", timer=due))
    return run_id


def at_checkpoint(scene: Stage) -> str:
    """Parked for a person's answer."""
    run_id = ready(scene)
    opened = OpenRequest(path="ask", visit=1, attempt=1, kind="checkpoint", prompt="?", contract={})
    scene.applied(scene.last, StartNode(path="ask", visit=1, attempt=1), opened, ParkRun(reason="waiting"))
    return run_id


def doubtful(scene: Stage) -> str:
    """Parked for an effect that nobody is sure of."""
    run_id = applying(scene)
    scene.host(RecordExit(run_id=run_id, worker=scene.last.worker, outcome="crashed"))
    return run_id


def parked(scene: Stage) -> str:
    """Parked for somebody."""
    run_id = reserved(scene)
    scene.applied(scene.last, ParkRun(reason="provider_error"))
    return run_id


def pausing(scene: Stage) -> str:
    """At work, with a pause asked for."""
    run_id = applying(scene)
    assert isinstance(scene.ask(PauseRun(run_id=run_id)), Applied)
    return run_id


def paused(scene: Stage) -> str:
    """Paused while it waits for an answer."""
    run_id = at_checkpoint(scene)
    assert isinstance(scene.ask(PauseRun(run_id=run_id)), Applied)
    return run_id


def continuation(scene: Stage) -> str:
    """The child of an answered checkpoint, never started."""
    at_checkpoint(scene)
    (request,) = scene.rows(REQUESTS, state="open")
    child = scene.ask(AnswerRequest(request=request.request, value=1))
    assert isinstance(child, Applied)
    return str(child.value)


def restarted(scene: Stage) -> str:
    """A restart, never started."""
    run_id = between(scene)
    scene.ask(CancelRun(run_id=run_id))
    assert isinstance(scene.ask(RestartRun(run_id=run_id, new_run_id="run-2")), Applied)
    return "run-2"


STATES = [
    queued,
    starting,
    ready,
    reserved,
    applying,
    between,
    asking,
    resting,
    at_checkpoint,
    doubtful,
    parked,
    pausing,
    paused,
    continuation,
    restarted,
]
UNSTARTED = (queued, starting, continuation, restarted)


def everything(scene: Stage, run_id: str) -> dict[str, Any]:
    """All that an end may not leave open, and what is left of it."""
    queue = scene.row(QUEUE, run_id)
    return {
        "claim": queue.owner,
        "eligible": queue.eligible,
        "session": scene.rows(RESERVATIONS, run_id=run_id),
        "visits": scene.rows(VISITS, run_id=run_id, open=True),
        "requests": [each for each in scene.rows(REQUESTS, run_id=run_id) if each.state in ("open", "validating")],
        "timers": scene.rows(TIMERS, run_id=run_id),
        "effects": [each for each in scene.rows(EFFECTS, run_id=run_id) if each.state in ("reserved", "applying")],
    }


NOTHING: dict[str, Any] = {
    "claim": None,
    "eligible": False,
    "session": [],
    "visits": [],
    "requests": [],
    "timers": [],
    "effects": [],
}


@pytest.mark.parametrize("state", STATES, ids=lambda each: each.__name__)
def test_cancel_closes_everything_in_one_transaction(scene: Stage, state: Scene) -> None:
    """Whatever the run is doing; a second one is adopted, and what its worker still says counts no more."""
    run_id = state(scene)
    effects = {each.effect: each.state for each in scene.rows(EFFECTS, run_id=run_id)}
    head = scene.log.head().position
    assert isinstance(scene.ask(CancelRun(run_id=run_id)), Applied)
    assert len({each.at for each in scene.log.read_all(head)}) == 1
    assert (scene.row(RUNS, run_id).status, everything(scene, run_id)) == ("cancelled", NOTHING)
    become = {"reserved": "cancelled", "applying": "ambiguous", "ambiguous": "ambiguous"}
    after = {each.effect: each.state for each in scene.rows(EFFECTS, run_id=run_id)}
    assert after == {effect: become[before] for effect, before in effects.items()}
    revision = scene.revision(run_id)
    assert isinstance(scene.ask(CancelRun(run_id=run_id)), Adopted)
    assert isinstance(scene.ask(PauseRun(run_id=run_id)), Conflict)
    assert isinstance(scene.host(TimeOutRun(run_id=run_id)), Conflict)
    if state not in (queued, continuation, restarted):
        (late,) = scene.tell(scene.last, StartNode(path="rest", visit=9, attempt=1))
        assert isinstance(late, Conflict)
        assert late.code == "claim_lost"
    assert scene.revision(run_id) == revision


@pytest.mark.parametrize("state", STATES, ids=lambda each: each.__name__)
def test_the_runs_own_limit_ends_it(scene: Stage, state: Scene) -> None:
    """Its timer fires in every state, paused ones too; a repeat finds nothing to do."""
    run_id = state(scene)
    scene.wait(LIMIT / 1_000_000)
    assert isinstance(scene.host(FireTimer(run_id=run_id, kind="run")), Applied)
    run = scene.row(RUNS, run_id)
    assert (run.status, run.code, everything(scene, run_id)) == ("timed_out", "run_timed_out", NOTHING)
    revision = scene.revision(run_id)
    assert isinstance(scene.host(TimeOutRun(run_id=run_id)), Adopted)
    assert isinstance(scene.host(FireTimer(run_id=run_id, kind="run")), Conflict)
    refused = scene.ask(CancelRun(run_id=run_id))
    assert isinstance(refused, Conflict)
    assert (refused.code, refused.evidence["outcome"]) == ("already_terminal", "timed_out")
    assert scene.revision(run_id) == revision


@pytest.mark.parametrize("state", STATES, ids=lambda each: each.__name__)
def test_a_pause_is_asked_for_once(scene: Stage, state: Scene) -> None:
    """A run that never started has nothing to pause; else the second is adopted, and no node starts after it."""
    run_id = state(scene)
    first = scene.ask(PauseRun(run_id=run_id))
    if state in UNSTARTED:
        assert isinstance(first, Conflict)
        assert first.code == "not_started"
        return
    assert isinstance(first, Adopted if state in (pausing, paused) else Applied)
    revision = scene.revision(run_id)
    assert isinstance(scene.ask(PauseRun(run_id=run_id)), Adopted)
    assert scene.revision(run_id) == revision
    if state in (ready, between):
        (refused,) = scene.tell(scene.last, StartNode(path="ask", visit=1, attempt=1))
        assert isinstance(refused, Conflict)
        assert refused.code == "paused"
        scene.applied(scene.last, ParkRun(reason="paused"))
        assert scene.row(RUNS, run_id).paused


@pytest.mark.parametrize("state", STATES, ids=lambda each: each.__name__)
def test_of_raced_ends_one_wins(scene: Stage, state: Scene) -> None:
    """Cancels, pauses and the limit at once: one end, and everybody else is told which."""
    run_id = state(scene)
    scene.wait(LIMIT / 1_000_000)
    raced = [
        scene.transitions.command(scene.caller(), CancelRun(run_id=run_id)),
        scene.transitions.host(TimeOutRun(run_id=run_id)),
        scene.transitions.command(scene.caller(), PauseRun(run_id=run_id)),
        scene.transitions.command(scene.caller(), CancelRun(run_id=run_id)),
    ]
    wait(raced)
    cancel, limit, pause, again = (each.result() for each in raced)
    ended = scene.row(RUNS, run_id).status
    assert ended in ("cancelled", "timed_out")
    assert isinstance(limit if ended == "timed_out" else cancel if isinstance(cancel, Applied) else again, Applied)
    ends = [each for each in scene.types(run_id) if each in ("run.cancelled", "run.timed_out")]
    assert len(ends) == 1
    assert isinstance(pause, Applied | Adopted | Conflict)
    assert everything(scene, run_id) == NOTHING
