"""What workers do in a world of runs: anything, sensible or not, and what comes next when all goes well."""

from collections.abc import Iterator
from random import Random
from typing import Any, Literal

from attrs import evolve

from runwright.engine.commands.worker import (
    AskPerson,
    AskSession,
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
    ReserveEffect,
    SettleEffect,
    StartNode,
    SubmitCandidate,
    Timer,
    UpdateNode,
    WorkerTransition,
)
from runwright.engine.decisions.parking import REASONS
from runwright.eventstore.values import Json
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.mounts import MOUNTS
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.runs import RunRow
from runwright.projections.control.visits import VISITS, VisitRow
from support.world import FLOW, NODES, PRIVATE, World, tell

Plan = tuple[WorkerTransition, ...]

#: Microseconds that a session has for a step, where it is limited.
LIMIT = 50_000_000


def spread(choice: int, times: int) -> Iterator[int]:
    """Make several choices of one, each as good as the first."""
    random = Random(choice)
    return (random.randrange(3_000) for _ in range(times))


def work(world: World, run_id: str, choice: int) -> None:
    """A worker does something sensible about where its run stands, mostly with a claim that holds."""
    workers = [each for each in world.workers if each.run_id == run_id]
    run = world.run(run_id)
    if not workers or run is None:
        return
    authority = workers[-1] if choice % 16 else workers[0]
    row = None if run.node is None else world.rows.get(VISITS, run_id, run.node)
    between = row is None or not row.open
    tell(world, authority, *(_between if between else _within)(world, run, choice // 16))


def _between(world: World, run: RunRow, choice: int) -> Plan:
    """What may be asked between two nodes."""
    path, visit = run.node or NODES[0], run.visit
    places = _places(world, run)[0] if choice % 4 else NODES
    target = places[choice % len(places)]
    begin = start(world, run, target)
    return (
        (begin,),
        (begin,),
        (begin,),
        enter(world, run, choice),
        leave(world, run, choice),
        (CompleteRun(), ExitWorker(outcome="finished")),
        (StartNode(path=path, visit=visit, attempt=run.attempt + 1),),
        (FailRun(outcome="failed", code="node_failed", phase="execute", message="it broke"),),
        (ParkRun(reason="waiting", timer=Timer(kind="retry", due=world.stage.clock.us)),),
        (ParkRun(reason=sorted(REASONS)[choice % len(REASONS)]), ExitWorker(outcome="parked")),
        (begin, UpdateNode(path=target, visit=begin.visit, attempt=1, key="k", update=PRIVATE)),
    )[(choice // 7) % 11]


def _within(world: World, run: RunRow, choice: int) -> Plan:
    """What may be asked while an attempt is open."""
    path, visit, attempt = run.node or NODES[0], run.visit, run.attempt
    effects = world.rows.find(EFFECTS, run_id=run.run_id, path=path, visit=visit)
    application = effects[0].applications if effects else 1
    requests = world.rows.find(REQUESTS, run_id=run.run_id)
    request = requests[-1].request if requests else "none"
    done = FinishNode(
        path=path, visit=visit, attempt=attempt, outcome="completed", next=NODES[0], output={"n": choice, "t": PRIVATE}
    )
    failed = FinishNode(path=path, visit=visit, attempt=attempt, outcome="failed", code="node_failed")
    reserve = ReserveEffect(path=path, visit=visit, request={"n": choice % 2, "t": PRIVATE})
    ask = _question(path, visit, attempt)
    if ask.kind == "checkpoint" and choice % 3:
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
            *((CloseRequest(request=request, cause="failed"),) if choice % 2 else ()),
        ),
        (failed,),
        (ParkRun(reason="waiting", timer=Timer(kind="wait", due=world.stage.clock.us)), ExitWorker(outcome="parked")),
        (StartNode(path=path, visit=visit, attempt=attempt),),
        (ParkRun(reason=sorted(REASONS)[choice % len(REASONS)]), ExitWorker(outcome="parked")),
        (FailRun(outcome="timed_out", code="node_timed_out", phase="execute", message="late", error=PRIVATE),),
        (EnterMount(path="docs", invocation=1, input=PRIVATE), to_session(path, visit, attempt, choice)),
        leave(world, run, choice),
        (QueueNotification(path=path, visit=visit, attempt=attempt, text=PRIVATE), done),
        (to_people(world, path, visit, attempt, choice), ExitWorker(outcome="parked")),
    )[(choice // 5) % 18]


# --- when all goes well -------------------------------------------------------------------------------------------


def carry_on(world: World, run_id: str, choice: int) -> None:
    """The owner of a run does what comes next, and it goes well."""
    run, queue = world.run(run_id), world.rows.get(QUEUE, run_id)
    authority = next((each for each in reversed(world.workers) if each.owner == queue.owner), None)
    if run is None or authority is None:
        return
    row = None if run.node is None else world.rows.get(VISITS, run_id, run.node)
    if row is None or not row.open:
        plan = _next(world, run, choice)
    elif choice % 6 == 3:
        plan = _badly(world, run, row, choice // 6)
    else:
        plan = _through(world, run, row, choice)
    tell(world, authority, *plan)


def _next(world: World, run: RunRow, choice: int) -> Plan:
    nodes, mounts = _places(world, run)
    inside = world.inside(run.run_id)
    if not inside and run.steps > 2 and choice % 5 == 0:
        return (CompleteRun(), ExitWorker(outcome="finished"))
    if inside and (choice % 3 == 0 or _tired(world, run)):
        return leave(world, run, choice)
    if mounts and choice % 4 == 1:
        return enter(world, run, choice)
    return (start(world, run, nodes[choice % len(nodes)]),)


def _through(world: World, run: RunRow, row: VisitRow, choice: int) -> Plan:
    path, visit, attempt = row.path, row.visits, row.attempt
    done = FinishNode(path=path, visit=visit, attempt=attempt, outcome="completed", next=NODES[0], output=PRIVATE)
    effects = world.rows.find(EFFECTS, run_id=run.run_id, path=path, visit=visit)
    found = world.rows.find(REQUESTS, run_id=run.run_id, path=path)
    requests = [each for each in found if each.state == "open"]
    rest = ParkRun(reason="waiting", timer=Timer(kind="wait", due=world.stage.clock.us))
    ask = _question(path, visit, attempt)
    match FLOW.nodes[path].kind:
        case "action" if not effects or effects[0].state == "reserved":
            reserve = ReserveEffect(path=path, visit=visit, request={"t": PRIVATE})
            return (reserve, BeginEffect(path=path, visit=visit))
        case "action" if effects[0].state == "applying":
            number = effects[0].applications
            return (
                SettleEffect(path=path, visit=visit, application=number, outcome="applied", result=PRIVATE),
                done,
            )
        case "agent" if run.session is not None and choice % 6:
            return (to_session(path, visit, attempt, choice), ExitWorker(outcome="parked"))
        case "agent" if not requests:
            return (ask,)
        case "agent":
            return (SubmitCandidate(request=requests[0].request, candidate=PRIVATE), done)
        case "wait":
            return (rest, ExitWorker(outcome="parked"))
        case "decision":
            return (to_people(world, path, visit, attempt, choice), ExitWorker(outcome="parked"))
        case "notify" if run.session is not None:
            return (QueueNotification(path=path, visit=visit, attempt=attempt, text=PRIVATE), done)
        case "assistant" if run.session is not None:
            visible = evolve(to_session(path, visit, attempt, choice), kind="assistant", contract={"maxLength": 3})
            return (visible, ExitWorker(outcome="parked"))
        case "assistant":
            return (evolve(done, outcome="failed", code="node_failed", output=None),)
        case "checkpoint":
            return (ask, ParkRun(reason="waiting"), ExitWorker(outcome="parked"))
        case _:
            return (done,)


def _badly(world: World, run: RunRow, row: VisitRow, choice: int) -> Plan:
    """What comes next where the node does not do what it should, as its worker would tell it."""
    path, visit, attempt = row.path, row.visits, row.attempt
    failed = FinishNode(path=path, visit=visit, attempt=attempt, outcome="failed", code="node_failed", error=PRIVATE)
    effects = world.rows.find(EFFECTS, run_id=run.run_id, path=path, visit=visit)
    found = world.rows.find(REQUESTS, run_id=run.run_id, path=path)
    requests = [each for each in found if each.state == "open"]

    def settle(outcome: Any, **more: Any) -> SettleEffect:
        return SettleEffect(path=path, visit=visit, application=effects[0].applications, outcome=outcome, **more)

    if effects and effects[0].state == "applying":
        return (
            (settle("ambiguous", cause="uncertain"), ParkRun(reason="effect_ambiguous"), ExitWorker(outcome="parked")),
            (settle("rejected", code="node_failed", error=PRIVATE), failed),
            (settle("released", cause="try"), evolve(failed, outcome="timed_out", code="node_timed_out")),
            (settle("released", cause="absent"), BeginEffect(path=path, visit=visit)),
        )[choice % 4]
    if requests and choice % 3:
        return (SubmitCandidate(request=requests[0].request, candidate=PRIVATE, refusal=PRIVATE),)
    return (
        (failed,),
        (failed, StartNode(path=path, visit=visit, attempt=attempt + 1)),
        (FailRun(outcome="failed", code="node_failed", phase="execute", message="It broke.", error=PRIVATE),),
        (ParkRun(reason=("provider_error", "host_stopped", "paused")[choice % 3]), ExitWorker(outcome="parked")),
    )[choice // 3 % 4]


# --- places -------------------------------------------------------------------------------------------------------


def start(world: World, run: RunRow, path: str) -> StartNode:
    """The next visit of a node."""
    known = world.rows.get(VISITS, run.run_id, path)
    return StartNode(path=path, visit=1 if known is None else known.visits + 1, attempt=1)


def enter(world: World, run: RunRow, choice: int) -> Plan:
    """The next entry into a mount that stands where the run is; sometimes its input cannot be worked out."""
    mounts = _places(world, run)[1] or tuple(FLOW.mounts)
    path = mounts[choice % len(mounts)]
    known = world.rows.get(MOUNTS, run.run_id, path)
    entered = EnterMount(path=path, invocation=1 if known is None else known.invocation + 1, input=PRIVATE)
    if choice % 7:
        return (entered,)
    return (evolve(entered, input=None, outcome="failed", code="output_invalid", error=PRIVATE),)


def leave(world: World, run: RunRow, choice: int) -> Plan:
    """The way out of the innermost mount: the one that a node of it completed at, or uncaught."""
    inside = world.inside(run.run_id)
    if not inside:
        return (ExitMount(path="docs", invocation=1, exit="ready", outcome="completed"),)
    row = inside[-1]
    for name, at in FLOW.mounts[row.path].exits.items():
        known = world.rows.get(VISITS, run.run_id, at)
        if known is not None and (known.invocation, known.outcome) == (row.invocation, "completed") and choice % 9:
            return (ExitMount(path=row.path, invocation=row.invocation, exit=name, outcome="completed"),)
    bad: Literal["failed", "timed_out"] = "failed" if choice % 2 else "timed_out"
    return (
        ExitMount(path=row.path, invocation=row.invocation, exit=None, outcome=bad, code="node_failed", error=PRIVATE),
    )


def to_session(path: str, visit: int, attempt: int, choice: int) -> AskSession:
    """A question to the run's session."""
    limit = LIMIT if choice % 2 else None
    return AskSession(path=path, visit=visit, attempt=attempt, kind="agent", prompt=PRIVATE, contract=None, limit=limit)


def to_people(world: World, path: str, visit: int, attempt: int, choice: int) -> AskPerson:
    """A question to people, mostly with a deadline."""
    choices: Json = [{"name": "yes", "label": PRIVATE, "text": None}, {"name": "no", "label": "", "text": PRIVATE}]
    return AskPerson(
        path=path,
        visit=visit,
        attempt=attempt,
        title=PRIVATE,
        facts={"t": PRIVATE},
        subject=PRIVATE,
        choices=choices,
        deadline=world.stage.clock.us + LIMIT if choice % 3 else None,
    )


def _question(path: str, visit: int, attempt: int) -> OpenRequest:
    kind: Literal["agent", "checkpoint"] = "checkpoint" if FLOW.nodes[path].kind == "checkpoint" else "agent"
    return OpenRequest(path=path, visit=visit, attempt=attempt, kind=kind, prompt=PRIVATE, contract=None)


def _places(world: World, run: RunRow) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The nodes and the mounts that stand where the run is."""
    inside = world.inside(run.run_id)
    scope = inside[-1].path if inside else ""
    nodes = tuple(path for path in NODES if path.rpartition("/")[0] == scope)
    return nodes, tuple(path for path in FLOW.mounts if path.rpartition("/")[0] == scope)


def _tired(world: World, run: RunRow) -> bool:
    """Whether an open mount has no step left."""
    steps = run.step_base + run.steps
    return any(steps - row.step_base >= FLOW.mounts[row.path].max_steps for row in world.inside(run.run_id))
