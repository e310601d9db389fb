"""A world of runs in memory: their graph, how it is asked, and what must hold between any two asks."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from attrs import define, evolve, field

from runwright.engine.commands.worker import (
    AskPerson,
    AskSession,
    Authority,
    BeginEffect,
    CloseRequest,
    CompleteRun,
    EnterMount,
    ExitMount,
    ExitWorker,
    FailRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    QueueNotification,
    Ready,
    ReserveEffect,
    SettleEffect,
    StartNode,
    WorkerTransition,
)
from runwright.engine.graph.definition import Definition, MountSpec
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.effect import EffectResolved
from runwright.eventstore.events.request import RequestRefused
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.mounts import MOUNTS, MountRow
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.turns import TURNS
from runwright.projections.control.visits import VISITS
from runwright.projections.control.workers import WORKERS
from support.graphs import graph, node
from support.memory_log import MemoryLog
from support.stage import Stage


def _mounted(path: str, entry: str, exits: dict[str, str], max_steps: int) -> MountSpec:
    return MountSpec(path=path, workflow="child", entry=entry, exits=exits, max_steps=max_steps, input_schema={})


FLOW: Final[Definition] = evolve(
    graph(
        node("plain", attempts=2),
        node("manual", "action", contract="manual"),
        node("again", "action", contract="idempotent", attempts=3),
        node("looked", "action", contract="observed", attempts=2),
        node("rest", "wait"),
        node("ask", "agent", attempts=2),
        node("gate", "checkpoint"),
        evolve(node("ship", "decision"), choices=("yes", "no"), on_timeout="no", deadline_us=1),
        evolve(node("tell", "notify"), notice="interim"),
        node("say", "assistant"),
        node("docs/write"),
        node("docs/send", "action", contract="manual"),
        node("docs/ask", "agent"),
        node("docs/gate", "checkpoint"),
        node("docs/deep/look", attempts=2),
        max_steps=14,
    ),
    mounts={
        "docs": _mounted("docs", "docs/write", {"ready": "docs/write", "sent": "docs/send"}, 5),
        "docs/deep": _mounted("docs/deep", "docs/deep/look", {"done": "docs/deep/look"}, 2),
    },
)
NODES: Final = tuple(FLOW.nodes)
RUNS_USED: Final = ("run-1", "run-2")

#: Which run statuses go with which queue states (page 05, "States").
PAIRS: Final = {
    "queued": {"queued", "starting"},
    "running": {"starting", "running", "parked"},
    "waiting": {"parked"},
    "completed": {"done"},
    "failed": {"failed"},
    "timed_out": {"failed"},
    "cancelled": {"cancelled"},
    "continued": {"done"},
}

#: The timers that a waiting run may have; a run of a session keeps those of its step, too, whatever it is parked for.
KINDS: Final = {"run", "wait", "retry"}
OF_STEPS: Final = {"run", "deadline", "delivery"}

#: Stands in every private value, and so in no event's data and in no answer (law 10).
PRIVATE: Final = "s3cret-value"

#: Page 07, "Messages": deliveries that start a turn per attempt and per session, deliveries of what tells of a run.
STEP_WAKE_UPS, SESSION_WAKE_UPS, TOLD_TWICE = 5, 10, 2
TOLD: Final = ("launch_failure", "terminal", "follow_up")

#: Page 07: refused candidates per attempt; reminders per request.
REFUSED, REMINDED = 5, 2

Call = Callable[[Stage], Any]


@define
class World:
    """What a walk knows: the stage, the workers there ever were, and what it asked so far."""

    stage: Stage
    workers: list[Authority] = field(factory=list)
    calls: list[Call] = field(factory=list)
    number: int = 0

    @property
    def rows(self) -> Any:
        """The control rows."""
        return cast(MemoryLog, self.stage.log).control

    @property
    def recorded(self) -> list[RecordedEvent]:
        """Everything that happened."""
        return cast(MemoryLog, self.stage.log).recorded

    def run(self, run_id: str) -> RunRow | None:
        """A run's row."""
        return self.rows.get(RUNS, run_id)  # type: ignore[no-any-return]

    def inside(self, run_id: str) -> list[MountRow]:
        """The mounts that a run is inside of, outermost first."""
        return sorted(self.rows.find(MOUNTS, run_id=run_id, inside=True), key=lambda row: len(row.path))

    def do(self, call: Call) -> Any:
        """Ask, and check that only what is applied writes."""
        before = len(self.recorded)
        result = call(self.stage)
        self.calls.append(call)
        results = result if isinstance(result, list) else [result]
        for each in results:
            # Law 4: one of four; law 10: what is told holds nothing private.
            assert isinstance(each, Applied | Adopted | Conflict | RecoveryRequired), each
            assert isinstance(each, Applied | Adopted) or PRIVATE not in str(each.evidence)
            assert not (isinstance(each, Conflict) and "guard" in each.evidence), each
        wrote = self.recorded[before:]
        # What is refused about a person's decision is kept, and nothing else of it.
        kept = all(isinstance(each.event, RequestRefused) for each in wrote)
        assert kept or any(isinstance(each, Applied) for each in results), results
        assert wrote or not any(isinstance(each, Applied) for each in results), results
        return result


#: Repeats of these are never applied a second time.
ONCE: Final = (
    Ready, StartNode, FinishNode, EnterMount, ExitMount, ReserveEffect, BeginEffect, SettleEffect, OpenRequest,
    AskSession, AskPerson, QueueNotification, CloseRequest, ParkRun, CompleteRun, FailRun, ExitWorker,
)  # fmt: skip


def tell(world: World, authority: Authority, *transitions: WorkerTransition) -> None:
    """Send a list, and then its parts once more."""
    owner = world.rows.get(QUEUE, authority.run_id).owner
    results = world.do(lambda stage: stage.tell(authority, *transitions))
    # Law 3: who does not own the run changes nothing of it. Its own end is still heard, and evidence about the effect
    # that it was applying.
    applied = [each for each, result in zip(transitions, results, strict=False) if isinstance(result, Applied)]
    assert owner == authority.owner or all(isinstance(each, ExitWorker | SettleEffect) for each in applied)
    for each in transitions[: len(results)]:
        again = world.do(partial(_tell, authority, each))
        if isinstance(each, ONCE):
            assert not isinstance(again[0], Applied), each


def _tell(authority: Authority, transition: WorkerTransition, stage: Stage) -> Any:
    return stage.tell(authority, transition)


# --- what must hold between two asks ------------------------------------------------------------------------------


def check(world: World, run_id: str, seen: dict[str, RunRow]) -> None:
    """Every invariant of one run that holds between two transactions."""
    run = world.run(run_id)
    if run is None:
        return
    _check_standing(world, run, seen.get(run_id))
    _check_mounts(world, run)
    if run.finished_at is None:
        _check_live(world, run)
    else:
        _check_ended(world, run)
    _check_effects(world, run)
    seen[run_id] = run


def _check_standing(world: World, run: RunRow, before: RunRow | None) -> None:
    rows, run_id = world.rows, run.run_id
    queue = rows.get(QUEUE, run_id)
    assert queue.state in PAIRS[run.status] or queue.reason == "imported"
    assert (queue.owner is not None) is (queue.state in ("starting", "running"))
    assert not queue.eligible or (queue.state in ("queued", "parked") and not run.paused)
    assert len([each for each in rows.find(VISITS, run_id=run_id) if each.open]) <= 1
    # Law 8: nothing goes on by itself where the last launch got no further; an orphan does once.
    assert not (queue.eligible and queue.cause == "progress" and run.launches > 0)
    assert not (queue.eligible and queue.cause == "orphaned" and run.launches > 1)
    if before is not None:
        assert run.progress >= before.progress
        assert before.finished_at is None or run == before or run.input_erased != before.input_erased
    if queue.owner is not None:
        live = [each for each in rows.find(WORKERS, run_id=run_id) if each.state != "exited"]
        assert queue.owner.partition(":")[2] in {each.worker for each in live}


def _check_mounts(world: World, run: RunRow) -> None:
    """Open mounts stand one inside another, and an open attempt stands in the innermost."""
    inside = world.inside(run.run_id)
    around, invocation = "", 0
    for row in inside:
        assert row.path.rpartition("/")[0] == around
        assert row.within == invocation
        around, invocation = row.path, row.invocation
    for visit in world.rows.find(VISITS, run_id=run.run_id):
        assert not visit.open or (visit.path.rpartition("/")[0], visit.invocation) == (around, invocation)


def _check_live(world: World, run: RunRow) -> None:
    rows, run_id = world.rows, run.run_id
    reason = rows.get(QUEUE, run_id).reason
    kinds = {each.kind for each in rows.find(TIMERS, run_id=run_id)}
    allowed = KINDS if reason == "waiting" else {"run"}
    decides = any(each.kind == "decision" for each in rows.find(REQUESTS, run_id=run_id, state="open"))
    assert kinds <= (allowed | OF_STEPS if run.session is not None or decides else allowed)
    found = [*rows.find(REQUESTS, run_id=run_id, state="open"), *rows.find(REQUESTS, run_id=run_id, state="validating")]
    asked = [each for each in found if each.session is not None or each.kind == "decision"]
    assert asked or not kinds & {"deadline", "delivery"}, "what bounds a step ends with its request"
    # Law 7: what is not settled belongs to the visit that started last.
    unsettled = [each for each in rows.find(EFFECTS, run_id=run_id) if each.state in _UNSETTLED]
    assert all((each.path, each.visit) == (run.node, run.visit) for each in unsettled)


def _check_ended(world: World, run: RunRow) -> None:
    """Law 6: nothing is open."""
    rows, run_id = world.rows, run.run_id
    assert not any(each.open for each in rows.find(VISITS, run_id=run_id))
    assert run.status == "continued" or world.inside(run_id) == []
    assert not [each for each in rows.find(REQUESTS, run_id=run_id) if each.state in ("open", "validating")]
    assert rows.find(TURNS, run_id=run_id, state="open") == []
    assert rows.find(TIMERS, run_id=run_id) == []
    assert rows.find(RESERVATIONS, run_id=run_id) == []
    unsent = {each.kind for each in rows.find(MESSAGES, run_id=run_id, state="pending")}
    follows = {"follow_up"} if run.status in ("completed", "continued") else set()
    assert unsent <= {"terminal", "launch_failure", "notification"} | follows
    assert all(each.state in ("applied", "rejected", "cancelled", "ambiguous") for each in _effects(world, run))
    terminal = rows.get(TERMINAL, run_id)
    assert terminal is None if run.status == "continued" else terminal.outcome == run.status
    assert not run.paused
    assert not run.pause_requested


def _check_effects(world: World, run: RunRow) -> None:
    """Law 7: a manual effect is applied again only by an operator's word."""
    for effect in _effects(world, run):
        if effect.contract == "manual" and effect.applications > 1:
            resolved = [each.event for each in world.recorded if isinstance(each.event, EffectResolved)]
            again = [each for each in resolved if (each.effect, each.resolution) == (effect.effect, "not_done")]
            assert len(again) >= effect.applications - 1


def _effects(world: World, run: RunRow) -> list[Any]:
    return world.rows.find(EFFECTS, run_id=run.run_id)  # type: ignore[no-any-return]


_UNSETTLED: Final = ("reserved", "applying", "ambiguous")


def check_sessions(world: World, sent: set[str]) -> None:
    """Every invariant of requests, messages and turns (page 07).

    Args:
        world: The world.
        sent: Messages that were sent before; what was is so for good.
    """
    rows = world.rows
    messages = rows.find(MESSAGES)
    now = {each.message for each in messages if each.state == "sent"}
    assert sent <= now, "sent is final"
    sent |= now
    for message in messages:
        assert message.kind not in TOLD or message.deliveries <= TOLD_TWICE
    for request in rows.find(REQUESTS):
        assert request.wake_ups <= STEP_WAKE_UPS
        assert request.refused <= REFUSED
        assert request.unproductive <= REMINDED
        pending = rows.find(MESSAGES, source=request.request, state="pending")
        assert len([each for each in pending if each.kind == "step"]) <= int(request.state == "open")
    assert all(each.wake_ups <= SESSION_WAKE_UPS for each in rows.find(SESSIONS))
    turns = rows.find(TURNS, state="open")
    assert len({each.session for each in turns}) == len({each.message for each in turns}) == len(turns)
    held = [each.session for each in rows.find(RUNS) if each.session is not None and each.finished_at is None]
    assert len(set(held)) == len(held), "one run holds a session"
