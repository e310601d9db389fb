"""Runs whose graph another version recorded in a form of its own: nothing carries them on, and nothing holds them."""

from collections.abc import Callable
from typing import NoReturn

import pytest

from runwright.engine.authoring.conversion import NotConvertible
from runwright.engine.commands.client import CancelRun, PauseRun, ResolveEffect, ResumeRun
from runwright.engine.commands.host import FireTimer, ParkIdleRun, RecordExit
from runwright.engine.commands.worker import (
    AskSession,
    BeginEffect,
    EnterMount,
    FinishNode,
    ParkRun,
    ReserveEffect,
    StartNode,
    Timer,
)
from runwright.engine.graph.definition import Definition, MountSpec
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.mounts import MOUNTS
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.visits import VISITS
from support.graphs import node
from support.scripted_session import ScriptedSession
from support.stage import Stage

ONE = "run-1"
FLOW = Definition(
    workflow="flow",
    entry="act",
    nodes={
        each.path: each
        for each in (node("act", "action", contract="idempotent"), node("ask", "agent"), node("rest", "wait"))
    }
    | {"child/act": node("child/act", "action", contract="manual")},
    mounts={
        "child": MountSpec(
            path="child",
            workflow="child",
            entry="child/act",
            exits={"done": "child/act"},
            max_steps=9,
            input_schema={},
        )
    },
)


def applying(scene: Stage) -> None:
    """An effect is under way."""
    reserve, begin = ReserveEffect(path="act", visit=1, request=None), BeginEffect(path="act", visit=1)
    scene.applied(scene.last, StartNode(path="act", visit=1, attempt=1), reserve, begin)


def in_a_mount(scene: Stage) -> None:
    """An effect is under way in a mounted child, and nobody will be able to tell what became of it."""
    reserve, begin = ReserveEffect(path="child/act", visit=1, request=None), BeginEffect(path="child/act", visit=1)
    start = StartNode(path="child/act", visit=1, attempt=1)
    scene.applied(scene.last, EnterMount(path="child", invocation=1), start, reserve, begin)


def asking(scene: Stage) -> None:
    """Its session is asked, and has not been told."""
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="p", contract=None)
    scene.applied(scene.last, StartNode(path="ask", visit=1, attempt=1), ask)


def resting(scene: Stage) -> None:
    """It waits for a time."""
    due = Timer(kind="wait", due=scene.clock.us + 1)
    scene.applied(scene.last, StartNode(path="rest", visit=1, attempt=1), ParkRun(reason="waiting", timer=due))


def between(scene: Stage) -> None:
    """It is ready, and has begun nothing."""


STATES = (applying, in_a_mount, asking, resting, between)


@pytest.fixture(params=STATES, ids=lambda each: each.__name__)
def older(request: pytest.FixtureRequest, scene: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The next holder of a store in which a run stands somewhere; it cannot read that run's graph."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1", timeout=60_000_000)
    pi.settle()
    scene.claim()
    state: Callable[[Stage], None] = request.param
    state(scene)

    def unknown(_: object) -> NoReturn:
        raise NotConvertible("has a field that is not known")

    monkeypatch.setattr(Definition, "from_snapshot", unknown)
    later = scene.succeed("older")
    later.host(RecordExit(run_id=ONE, worker=scene.last.worker, outcome="orphaned"))
    return later


def check_closed(scene: Stage, status: str) -> None:
    """It has ended, and holds nothing any more."""
    run, queue = scene.row(RUNS, ONE), scene.row(QUEUE, ONE)
    assert (run.status, queue.owner, queue.eligible) == (status, None, False)
    assert scene.rows(RESERVATIONS) == []
    assert scene.rows(TIMERS, run_id=ONE) == []
    assert scene.rows(VISITS, run_id=ONE, open=True) == []
    assert scene.rows(MOUNTS, run_id=ONE, inside=True) == []
    assert not any(each.state in ("open", "validating") for each in scene.rows(REQUESTS))
    assert not any(each.state in ("reserved", "applying") for each in scene.rows(EFFECTS))
    assert not any(each.state == "pending" for each in scene.rows(MESSAGES))


def test_its_worker_is_put_away_like_any_other(older: Stage) -> None:
    """No claim of a dead holder stays, and its effect goes by its contract."""
    row = older.row(QUEUE, ONE)
    assert (row.state, row.owner) == ("parked", None)
    assert not any(each.state == "applying" for each in older.rows(EFFECTS))


def test_it_is_cancelled_like_any_other(older: Stage) -> None:
    """Law 5: whatever it was doing, and whoever can read its graph."""
    assert isinstance(older.ask(CancelRun(run_id=ONE)), Applied)
    check_closed(older, "cancelled")
    assert isinstance(older.ask(CancelRun(run_id=ONE)), Adopted)


def test_its_own_limit_ends_it_like_any_other(older: Stage) -> None:
    """Its time runs on."""
    older.wait(61)
    assert isinstance(older.host(FireTimer(run_id=ONE, kind="run")), Applied)
    check_closed(older, "timed_out")


def test_it_is_paused_and_parked_and_not_resumed(older: Stage) -> None:
    """A resume says why before anything is written, also for a paused one."""
    assert isinstance(older.host(ParkIdleRun(run_id=ONE, reason="unsupported")), Applied)
    assert older.row(QUEUE, ONE).reason == "unsupported"
    assert isinstance(older.ask(PauseRun(run_id=ONE)), Applied)
    before = older.log.head()
    refused = older.ask(ResumeRun(run_id=ONE))
    assert isinstance(refused, Conflict)
    assert refused.code == "unsupported"
    assert older.log.head() == before


@pytest.mark.parametrize("older", [in_a_mount], indirect=True, ids=["in_a_mount"])
def test_its_effect_is_resolved_like_any_other(older: Stage) -> None:
    """What happened outside is known to people, not to the graph."""
    (effect,) = older.rows(EFFECTS, state="ambiguous")
    assert isinstance(older.ask(ResolveEffect(effect=effect.effect, resolution="not_done", reason="r")), Applied)
    assert older.rows(EFFECTS, state="ambiguous") == []


@pytest.mark.parametrize("older", [applying, between], indirect=True, ids=["applying", "between"])
def test_nothing_of_it_is_begun(older: Stage) -> None:
    """A worker that got as far as that is told why, and by no other name."""
    worker = older.claim()
    for each in (
        StartNode(path="rest", visit=2, attempt=1),
        FinishNode(path="act", visit=1, attempt=1, outcome="failed", code="node_failed"),
    ):
        (refused,) = older.tell(worker, each)
        assert isinstance(refused, Conflict)
        assert refused.code == "unsupported"
