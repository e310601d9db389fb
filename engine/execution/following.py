"""Following a route: mounts are left and entered on the way, and a child's input is worked out."""

from typing import Any, cast

from attrs import evolve

from runwright.engine.authoring.conversion import PLAIN, NotConvertible
from runwright.engine.commands.worker import CompleteRun, EnterMount, ExitMount
from runwright.engine.execution.contexts import build_context
from runwright.engine.execution.ending import Bad, End, bad_input, bad_mount, bad_node, fail_run, no_steps
from runwright.engine.execution.failures import Failure, NodeFailure, stored
from runwright.engine.execution.port import MountState, NodeState
from runwright.engine.execution.visit import Outcome, Visit
from runwright.engine.execution.walk import ASIDE_LIMIT, Walk
from runwright.engine.graph.program import Scope
from runwright.engine.graph.route import Complete, Go, Leave, Route, RouteMissing, Uncaught, entered, left, route
from runwright.eventstore.values import Json


def routed(walk: Walk, node: NodeState) -> Route:
    """Where the rules lead from a node that finished, all its attempts used."""
    if node.outcome not in ("completed", "failed", "timed_out"):
        raise AssertionError(node.outcome)  # a cancelled visit ended its run with it
    return route(walk.definition, node.path, cast(Outcome, node.outcome), node.output, walk.places.all_entries())


async def follow(walk: Walk, where: Route, node: NodeState | None = None) -> Visit | End:
    """Go where the rules lead.

    Args:
        walk: The run.
        where: The route.
        node: The node that finished last; ``None`` at a run's beginning.
    """
    return await _follow(walk, where, None if node is None else bad_node(node), None if node is None else node.output)


async def follow_mount(walk: Walk, path: str) -> Visit | End:
    """Go on from a mount that an earlier worker entered or left, and came no further."""
    mount = walk.places.mounts[path]
    if mount.inside:
        return await _follow(walk, entered(walk.definition, path), None, None)
    spec = walk.definition.mounts.get(path)
    last = None if walk.state.node is None else walk.nodes[walk.state.node]
    bad = bad_mount(mount, last, 0 if spec is None else spec.max_steps)
    outcome: Outcome = "completed" if bad is None else bad.outcome
    where = left(walk.definition, path, mount.exit, outcome, mount.output, walk.places.all_entries())
    return await _follow(walk, where, bad, mount.output)


async def _follow(walk: Walk, where: Route, bad: Bad | None, output: Json) -> Visit | End:
    tried: set[str] = set()
    while True:
        for leave in where.leaves:
            _leave(walk, leave, bad, output)
        match where:
            case Go():
                arrived = await _go(walk, where)
                if isinstance(arrived, Visit):
                    return arrived
                path, bad = arrived
                where = _after_trouble(walk, path, bad, again=path in tried)
                tried.add(path)
            case Complete():
                return End(CompleteRun(), "finished")
            case Uncaught():
                assert bad is not None
                return bad.end()
            case RouteMissing():
                return End(fail_run("route_missing", where.message), "finished")


def _after_trouble(walk: Walk, path: str, bad: Bad, *, again: bool) -> Route:
    """Where a mount's own bad outcome leads; the second one without a step in between is caught by nothing."""
    if not again:
        return left(walk.definition, path, None, bad.outcome, None, walk.places.all_entries())
    leaves = (Leave(mount.path, None, bad.outcome) for mount in walk.definition.mounts_around(path))
    return Uncaught(bad.outcome, tuple(leaves))


async def _go(walk: Walk, where: Go) -> Visit | tuple[str, Bad]:
    """Enter the mounts on the way and begin the visit; or answer the mount that ended badly, and how."""
    for path in where.enters:
        if (bad := await _enter(walk, path)) is not None:
            return path, bad
    mount = walk.places.exhausted(where.node)
    if mount is None:
        return walk.enter(where.node)
    bad = no_steps(mount, walk.definition.mounts[mount.path].max_steps)
    for around in walk.definition.mounts_around(where.node):
        _leave(walk, Leave(around.path, None, bad.outcome), bad, None)
        if around.path == mount.path:
            break
    return mount.path, bad


def _leave(walk: Walk, leave: Leave, bad: Bad | None, output: Json) -> None:
    completed = leave.outcome == "completed"
    code, error = (None, None) if completed or bad is None else (bad.code, bad.error)
    mount = walk.places.leave(
        leave.mount,
        leave.exit,
        leave.outcome,
        output=output if completed else None,
        code=code,
        error=error,
        now=walk.port.now(),
    )
    walk.owe(
        [
            ExitMount(
                path=mount.path,
                invocation=mount.invocation,
                exit=leave.exit,
                outcome=leave.outcome,
                code=code,
                error=error,
            )
        ]
    )


async def _enter(walk: Walk, path: str) -> Bad | None:
    """Enter a mount with the input that the parent's function works out; or leave it at once, saying why."""
    mount = walk.places.counted(path, walk.port.now())
    bad: Bad | None = None
    try:
        document = await walk.aside(_input(walk, mount))
    except NodeFailure as raised:
        bad = bad_input(mount, raised.failure)
        entry = EnterMount(path=path, invocation=mount.invocation, outcome=bad.outcome, code=bad.code, error=bad.error)
        walk.places.leave(path, None, bad.outcome, output=None, code=bad.code, error=bad.error, now=walk.port.now())
    else:
        entry = EnterMount(path=path, invocation=mount.invocation, input=document)
        walk.places.enter(path, document)
    walk.owe([entry])
    return bad


async def _input(walk: Walk, mount: MountState) -> Json:
    scope = walk.program.scopes[mount.path]
    assert scope.make_input is not None
    context = build_context(
        walk.program,
        walk.state,
        walk.places,
        path=mount.path,
        visit=mount.invocation,
        attempt=1,
        deadline=None,
        log=walk.log,
        # There is no attempt yet that progress could belong to.
        report=lambda *_: None,
    )
    value = await walk.call_at(mount.path, None, ASIDE_LIMIT, scope.make_input, context)
    return _fitted(scope, value)


def _fitted(scope: Scope, value: Any) -> Json:
    """The child's input as it is stored: a value of its declared type, or JSON that fits it."""
    try:
        if scope.input.owns(value):
            return stored(scope.input, value, "input")
        document = stored(PLAIN, value, "input")
    except NodeFailure as raised:
        raise NodeFailure(_as_input(raised.failure)) from None
    try:
        scope.input.load(document)
    except NotConvertible as problem:
        raise NodeFailure(Failure(code="input_invalid", error=f"the input does not fit: {problem}")) from None
    except Exception as problem:  # noqa: BLE001 (a class of the user's own runs its code here)
        text = f"the input does not fit: building it raised {type(problem).__name__}"
        raise NodeFailure(Failure(code="input_invalid", error=text)) from None
    return document


def _as_input(failure: Failure) -> Failure:
    return evolve(failure, code="input_invalid") if failure.code == "output_invalid" else failure
