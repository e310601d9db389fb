"""A walk through commands in memory: what is asked, what a walk knows, and what must hold between two transactions."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, cast

from attrs import define, evolve, field
from hypothesis import strategies as st

from runwright.engine.commands.client import CancelRun, PauseRun, ResolveEffect, ResumeRun
from runwright.engine.commands.host import ClaimRun, FireTimer, ParkIdleRun, RecordExit, TimeOutRun
from runwright.engine.commands.worker import (
    Authority,
    BeginEffect,
    CloseRequest,
    CompleteRun,
    ExitWorker,
    FailRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    Ready,
    ReserveEffect,
    SettleEffect,
    StartNode,
    SubmitCandidate,
    Timer,
    UpdateNode,
    WorkerTransition,
)
from runwright.engine.decisions.parking import REASONS
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired
from runwright.engine.transitions.worker import token_hash
from runwright.eventstore.events.effect import EffectResolved
from runwright.eventstore.log import EventLog
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.visits import VISITS
from runwright.projections.control.workers import WORKERS
from support.graphs import graph, node
from support.memory_log import MemoryLog
from support.stage import PROCESS, Stage, TestClock, queue_command

FLOW: Final = graph(
    node("plain", attempts=2),
    node("manual", "action", contract="manual"),
    node("again", "action", contract="idempotent", attempts=3),
    node("looked", "action", contract="observed", attempts=2),
    node("rest", "wait"),
    node("ask", "agent", attempts=2),
    node("gate", "checkpoint"),
    max_steps=8,
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

KINDS: Final = {"run", "wait", "retry"}

#: Stands in every private value, and so in no event's data and in no answer (law 10).
PRIVATE: Final = "s3cret-value"

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

    def run(self, run_id: str) -> RunRow | None:
        """A run's row."""
        return self.rows.get(RUNS, run_id)  # type: ignore[no-any-return]

    def do(self, call: Call) -> Any:
        """Ask, and check that only what is applied writes."""
        before = len(cast(MemoryLog, self.stage.log).recorded)
        result = call(self.stage)
        self.calls.append(call)
        results = result if isinstance(result, list) else [result]
        for each in results:
            # Law 4: one of four; law 10: what is told holds nothing private.
            assert isinstance(each, Applied | Adopted | Conflict | RecoveryRequired), each
            assert isinstance(each, Applied | Adopted) or PRIVATE not in str(each.evidence)
            assert not (isinstance(each, Conflict) and "guard" in each.evidence), each
        wrote = len(cast(MemoryLog, self.stage.log).recorded) > before
        assert wrote is any(isinstance(each, Applied) for each in results), results
        return result


#: Repeats of these are never applied a second time.
ONCE: Final = (
    Ready, StartNode, FinishNode, ReserveEffect, BeginEffect, SettleEffect, OpenRequest, CloseRequest, ParkRun,
    CompleteRun, FailRun, ExitWorker,
)  # fmt: skip


def client(world: World, run_id: str, choice: int) -> None:
    """A person pauses, resumes, cancels, starts."""
    world.number += 1
    key = f"k{world.number}"
    start = queue_command(FLOW, run_id, {"n": choice, "t": PRIVATE}, timeout=None if choice % 4 else 10_000_000)
    pause, resume = PauseRun(run_id=run_id), ResumeRun(run_id=run_id)
    cancel = CancelRun(run_id=run_id, reason=PRIVATE)
    commands = (start, pause, resume, resume, resume, pause, resume, cancel if choice % 3 == 0 else resume)
    command = commands[choice % 8] if world.run(run_id) is not None else start
    world.do(lambda stage: stage.ask(command, key=key))
    repeat = world.do(lambda stage: stage.ask(command, key=key))
    if not isinstance(command, ResumeRun):
        assert not isinstance(repeat, Applied)


def resolve(world: World, run_id: str, choice: int) -> None:
    """An operator says what became of an effect."""
    found = sorted(world.rows.find(EFFECTS, run_id=run_id), key=lambda each: each.state != "ambiguous")
    if not found:
        return
    resolution = ("done", "not_done", "timed_out")[choice % 3]
    command = ResolveEffect(
        effect=found[0].effect, resolution=resolution, result=PRIVATE, output=PRIVATE, reason=PRIVATE
    )
    world.number += 1
    first, second = f"k{world.number}a", f"k{world.number}b"
    world.do(lambda stage: stage.ask(command, key=first))
    assert not isinstance(world.do(lambda stage: stage.ask(command, key=second)), Applied)


def claim(world: World, run_id: str, choice: int) -> None:
    """The holder claims."""
    world.number += 1
    owner, token = f"{world.stage.epoch}:w{world.number}", f"{world.number:064x}"
    command = ClaimRun(run_id=run_id, owner=owner, token_hash=token_hash(token), process=PROCESS)
    result = world.do(lambda stage: stage.host(command))
    if isinstance(result, Applied):
        authority = Authority(run_id=run_id, owner=owner, token=token, generation=result.value)
        world.workers.append(authority)
        assert isinstance(world.do(lambda stage: stage.host(command)), Adopted)
        if choice % 6:
            tell(world, authority, Ready())


def host(world: World, run_id: str, choice: int) -> None:
    """The holder observes ends, fires timers, parks what nobody drives."""
    workers = [each for each in world.workers if each.run_id == run_id]
    outcomes = ("crashed", "orphaned", "timed_out")
    commands: list[Any] = [FireTimer(run_id=run_id, kind=kind) for kind in ("wait", "retry", "wait", "deadline")]
    commands += [ParkIdleRun(run_id=run_id, reason="environment_missing")]
    if workers:
        ends = [RecordExit(run_id=run_id, worker=workers[-1].worker, outcome=each) for each in outcomes]  # type: ignore[arg-type]
        commands += ends * 2
        commands += [RecordExit(run_id=run_id, worker=workers[0].worker, outcome="orphaned")]
    rare = (
        TimeOutRun(run_id=run_id),
        FireTimer(run_id=run_id, kind="run"),
        ParkIdleRun(run_id=run_id, reason="imported"),
    )
    command = rare[choice % 3] if choice % 20 == 0 else commands[choice % len(commands)]
    world.do(lambda stage: stage.host(command))
    assert not isinstance(world.do(lambda stage: stage.host(command)), Applied)


def work(world: World, run_id: str, choice: int) -> None:
    """A worker does something sensible about where its run stands, mostly with a claim that holds."""
    workers = [each for each in world.workers if each.run_id == run_id]
    run = world.run(run_id)
    if not workers or run is None:
        return
    authority = workers[-1] if choice % 16 else workers[0]
    tell(world, authority, *_plans(world, run, choice // 16))


def _plans(world: World, run: RunRow, choice: int) -> tuple[WorkerTransition, ...]:
    path = run.node or NODES[0]
    visit, attempt = run.visit, run.attempt
    row = world.rows.get(VISITS, run.run_id, path)
    if row is None or not row.open:
        target = NODES[choice % len(NODES)]
        other = world.rows.get(VISITS, run.run_id, target)
        begin = StartNode(path=target, visit=1 if other is None else other.visits + 1, attempt=1)
        return (
            (begin,),
            (begin,),
            (begin,),
            (begin,),
            (CompleteRun(), ExitWorker(outcome="finished")),
            (StartNode(path=path, visit=visit, attempt=attempt + 1),),
            (FailRun(outcome="failed", code="node_failed", phase="execute", message="it broke"),),
            (ParkRun(reason="waiting", timer=Timer(kind="retry", due=world.stage.clock.us)),),
            (ParkRun(reason=sorted(REASONS)[choice % len(REASONS)]), ExitWorker(outcome="parked")),
            (begin, UpdateNode(path=target, visit=begin.visit, attempt=1, key="k", update=PRIVATE)),
        )[(choice // 7) % 10]
    effects = world.rows.find(EFFECTS, run_id=run.run_id, path=path, visit=visit)
    application = effects[0].applications if effects else 1
    requests = world.rows.find(REQUESTS, run_id=run.run_id)
    request = requests[-1].request if requests else "none"
    done = FinishNode(
        path=path, visit=visit, attempt=attempt, outcome="completed", next=NODES[0], output={"n": choice, "t": PRIVATE}
    )
    failed = FinishNode(path=path, visit=visit, attempt=attempt, outcome="failed", code="node_failed")
    reserve = ReserveEffect(path=path, visit=visit, request={"n": choice % 2, "t": PRIVATE})
    kind: Literal["agent", "checkpoint"] = "checkpoint" if path == "gate" else "agent"
    ask = OpenRequest(path=path, visit=visit, attempt=attempt, kind=kind, prompt=PRIVATE, contract=None)
    if kind == "checkpoint" and choice % 3:
        return (ask, ParkRun(reason="waiting"))

    def settle(outcome: Any, **more: Any) -> SettleEffect:
        return SettleEffect(path=path, visit=visit, application=application, outcome=outcome, **more)

    return (
        (done,),
        (done,),
        (reserve, BeginEffect(path=path, visit=visit)),
        (settle("applied", result=PRIVATE), done),
        (settle("ambiguous", cause="uncertain"), ParkRun(reason="effect_ambiguous")),
        (settle("rejected", code="node_failed"), failed),
        (settle("released", cause=("try", "idempotent", "absent")[choice % 3]),),
        (ask, SubmitCandidate(request=request, candidate=PRIVATE)),
        (
            SubmitCandidate(request=request, candidate=PRIVATE, refusal=PRIVATE),
            CloseRequest(request=request, cause="failed"),
        ),
        (failed,),
        (ParkRun(reason="waiting", timer=Timer(kind="wait", due=world.stage.clock.us)), ExitWorker(outcome="parked")),
        (StartNode(path=path, visit=visit, attempt=attempt),),
        (ParkRun(reason=sorted(REASONS)[choice % len(REASONS)]), ExitWorker(outcome="parked")),
        (FailRun(outcome="timed_out", code="node_timed_out", phase="execute", message="late", error=PRIVATE),),
    )[(choice // 5) % 14]


def carry_on(world: World, run_id: str, choice: int) -> None:
    """The owner of a run does what comes next, and it goes well."""
    run, queue = world.run(run_id), world.rows.get(QUEUE, run_id)
    authority = next((each for each in reversed(world.workers) if each.owner == queue.owner), None)
    if run is None or authority is None:
        return
    row = None if run.node is None else world.rows.get(VISITS, run_id, run.node)
    if row is None or not row.open:
        path = NODES[choice % len(NODES)]
        known = world.rows.get(VISITS, run_id, path)
        visit = 1 if known is None else known.visits + 1
        ends = run.steps > 2 and choice % 5 == 0
        start = StartNode(path=path, visit=visit, attempt=1)
        tell(world, authority, *((CompleteRun(), ExitWorker(outcome="finished")) if ends else (start,)))
        return
    path, visit, attempt = row.path, row.visits, row.attempt
    done = FinishNode(path=path, visit=visit, attempt=attempt, outcome="completed", next=NODES[0], output=PRIVATE)
    effects = world.rows.find(EFFECTS, run_id=run_id, path=path, visit=visit)
    requests = [each for each in world.rows.find(REQUESTS, run_id=run_id, path=path) if each.state == "open"]
    rest = ParkRun(reason="waiting", timer=Timer(kind="wait", due=world.stage.clock.us))
    ask = OpenRequest(path=path, visit=visit, attempt=attempt, kind="agent", prompt=PRIVATE, contract=None)
    match FLOW.nodes[path].kind:
        case "action" if not effects or effects[0].state == "reserved":
            reserve = ReserveEffect(path=path, visit=visit, request={"t": PRIVATE})
            plan: tuple[WorkerTransition, ...] = (reserve, BeginEffect(path=path, visit=visit))
        case "action" if effects[0].state == "applying":
            number = effects[0].applications
            settle = SettleEffect(path=path, visit=visit, application=number, outcome="applied", result=PRIVATE)
            plan = (settle, done)
        case "agent" if not requests:
            plan = (ask,)
        case "agent":
            plan = (SubmitCandidate(request=requests[0].request, candidate=PRIVATE), done)
        case "wait":
            plan = (rest, ExitWorker(outcome="parked"))
        case "checkpoint":
            plan = (evolve(ask, kind="checkpoint"), ParkRun(reason="waiting"), ExitWorker(outcome="parked"))
        case _:
            plan = (done,)
    tell(world, authority, *plan)


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


def time_passes(world: World, run_id: str, choice: int) -> None:
    """Leases end."""
    del run_id
    if choice % 9 == 0:
        world.calls.append(lambda stage: stage.wait(31))
        world.stage.wait(31)


ACTIONS: Final = (client, claim, claim, work, work, work, work, work, work, host, resolve, time_passes)
STEPS: Final = st.lists(
    st.tuples(
        st.sampled_from(ACTIONS), st.sampled_from((*RUNS_USED, RUNS_USED[0], RUNS_USED[0])), st.integers(0, 2_999)
    ),
    max_size=60,
)


def walk(steps: list[tuple[Any, str, int]]) -> World:
    """Walk through the steps in memory, checking every invariant after each."""
    clock = TestClock()
    world = World(Stage(cast(EventLog, MemoryLog(clock.now)), clock))
    client(world, "run-1", 1)
    claim(world, "run-1", 1)
    seen: dict[str, RunRow] = {}
    for action, run_id, choice in steps:
        action(world, run_id, choice)
        for each in RUNS_USED:
            check(world, each, seen)
    return world


def check(world: World, run_id: str, seen: dict[str, RunRow]) -> None:
    """Every invariant that holds between two transactions."""
    run, rows = world.run(run_id), world.rows
    if run is None:
        return
    queue = rows.get(QUEUE, run_id)
    before = seen.get(run_id)
    visits = rows.find(VISITS, run_id=run_id)
    effects = rows.find(EFFECTS, run_id=run_id)
    unsettled = [each for each in effects if each.state in ("reserved", "applying", "ambiguous")]
    assert queue.state in PAIRS[run.status] or queue.reason == "imported"
    assert (queue.owner is not None) is (queue.state in ("starting", "running"))
    assert not queue.eligible or (queue.state in ("queued", "parked") and not run.paused)
    assert len([each for each in visits if each.open]) <= 1
    # Law 8: nothing goes on by itself where the last launch got no further; an orphan does once.
    assert not (queue.eligible and queue.cause == "progress" and run.launches > 0)
    assert not (queue.eligible and queue.cause == "orphaned" and run.launches > 1)
    if before is not None:
        assert run.progress >= before.progress
        assert before.finished_at is None or run == before or run.input_erased != before.input_erased
    if run.finished_at is None:
        assert {each.kind for each in rows.find(TIMERS, run_id=run_id)} <= (
            {"run"} if queue.reason != "waiting" else KINDS
        )
        # Law 7: what is not settled belongs to the visit that started last.
        assert all((each.path, each.visit) == (run.node, run.visit) for each in unsettled)
    else:
        # Law 6: nothing is open.
        assert not any(each.open for each in visits)
        assert not [each for each in rows.find(REQUESTS, run_id=run_id) if each.state in ("open", "validating")]
        assert rows.find(TIMERS, run_id=run_id) == []
        assert rows.find(RESERVATIONS, run_id=run_id) == []
        assert all(each.state == "ambiguous" for each in unsettled)
        terminal = rows.get(TERMINAL, run_id)
        assert terminal is None if run.status == "continued" else terminal.outcome == run.status
        assert not run.paused
        assert not run.pause_requested
    for effect in effects:
        if effect.contract == "manual" and effect.applications > 1:
            resolved = [
                each.event
                for each in cast(MemoryLog, world.stage.log).recorded
                if isinstance(each.event, EffectResolved) and each.event.effect == effect.effect
            ]
            assert len([each for each in resolved if each.resolution == "not_done"]) >= effect.applications - 1
    live = [each for each in rows.find(WORKERS, run_id=run_id) if each.state != "exited"]
    if queue.owner is not None:
        assert queue.owner.partition(":")[2] in {each.worker for each in live}
    seen[run_id] = run
