"""The executor: walks the graph of one run through its port, one commit a step."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeAlias, assert_never

from runwright.engine.agents.agent import Agent
from runwright.engine.authoring.limits import LATEST_US, limit_us
from runwright.engine.clock import Clock
from runwright.engine.commands.run import Beginning, Continue, Restart, Resume, Start
from runwright.engine.commands.worker import (
    ExitWorker,
    FailRun,
    ParkRun,
    Timer,
)
from runwright.engine.execution.calling import outlived, returned
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.contexts import InputUnfit
from runwright.engine.execution.ending import End, WorkerEnd, fail_run
from runwright.engine.execution.failures import NodeFailure, trace
from runwright.engine.execution.following import follow, follow_mount, routed
from runwright.engine.execution.port import NodeState, Port, RunState
from runwright.engine.execution.runners.action import run_action
from runwright.engine.execution.runners.agent import run_agent
from runwright.engine.execution.runners.asking import ask_session
from runwright.engine.execution.runners.checkpoint import run_checkpoint
from runwright.engine.execution.runners.compute import run_compute
from runwright.engine.execution.runners.decision import run_decision
from runwright.engine.execution.runners.notify import run_notify
from runwright.engine.execution.runners.shell import run_shell
from runwright.engine.execution.runners.wait import run_wait
from runwright.engine.execution.visit import Ended, Parked, Visit
from runwright.engine.execution.walk import ASIDE_LIMIT, Refused, Walk
from runwright.engine.graph.program import Program
from runwright.engine.graph.route import Go, first
from runwright.engine.safe import MAX_MESSAGE, cut

Runner: TypeAlias = Callable[[Walk, Visit], Awaitable[Ended | Parked]]

#: A longer delay between two tries parks the run.
LONGEST_SLEEP = 5.0
#: Another owner has the run, or it has ended: nothing is left to write.
_NOT_OURS = frozenset({"claim_lost", "already_terminal", "not_found"})

_RUNNERS: Mapping[str, Runner] = {
    "compute": run_compute,
    "action": run_action,
    "shell": run_shell,
    "wait": run_wait,
    "checkpoint": run_checkpoint,
    "agent": run_agent,
    "choose": run_agent,
    "assistant": ask_session,
    "decision": run_decision,
    "notify": run_notify,
}


async def execute(
    program: Program,
    state: RunState,
    port: Port,
    *,
    agents: Mapping[str, Agent],
    clock: Clock,
    log: OutputLog,
    ready: bool = False,
    secrets: Iterable[str] = (),
) -> WorkerEnd:
    """Carry one generation of one run as far as it goes.

    Cancelling it ends what it started (a process group, an executor) and writes nothing more. A plain function
    that cannot be stopped is remembered: the same run, executed again in this process, first waits for it.

    Args:
        program: The definition and its code.
        state: The run as it is saved, and the run command.
        port: The transitions.
        agents: The executors by name.
        clock: Counts down.
        log: The run's private output log.
        ready: Whether the worker was said to be ready already; else that goes out with the first commit.
        secrets: Values that no error text may hold.

    Returns:
        How the worker ended, as `ExitWorker` said it; ``claim_lost`` was never written.
    """
    walk = Walk(program, state, port, agents=agents, clock=clock, log=log, ready=ready, secrets=secrets)
    try:
        await returned(state.run_id)
        try:
            end = await _walk(walk)
        except InputUnfit as unfit:
            end = _unfit(walk, unfit)
        return await _say(walk, end)
    except Refused as refused:
        return await _refused(walk, refused)


async def _walk(walk: Walk) -> End:
    step = await _begin(walk)
    while isinstance(step, Visit):
        if outlived(walk.state.run_id):
            await walk.commit()
            await returned(walk.state.run_id)
        ended = await _attempt(walk, step)
        if isinstance(ended, Parked):
            walk.owe(ended.before)
            return End(ended.park, "parked")
        step = await _after(walk, step, ended)
    return step


async def _begin(walk: Walk) -> Visit | End:
    state = walk.state
    match state.command:
        case Resume() if state.mount is not None:
            return await follow_mount(walk, state.mount)
        case Resume() if state.node is not None:
            return await _from_saved(walk, state.node)
        case Resume():
            return await _from_beginning(walk, state.begins or Start(run_id=state.run_id))
        case Start() | Continue() | Restart() as command:
            return await _from_beginning(walk, command)


async def _from_beginning(walk: Walk, command: Beginning) -> Visit | End:
    match command:
        case Continue():
            node = walk.nodes[command.node]
            return await follow(walk, routed(walk, node), node)
        case Restart() if command.at is not None:
            return walk.enter(command.at)
        case Start() | Restart():
            return await follow(walk, first(walk.definition))
        case never:
            assert_never(never)


async def _from_saved(walk: Walk, path: str) -> Visit | End:
    node = walk.nodes[path]
    if node.open:
        return walk.carry_on(node.path)
    if walk.definition.nodes[node.path].tries_again(node.attempt, node.outcome, node.code):
        return await _retry(walk, node)
    return await follow(walk, routed(walk, node), node)


async def _attempt(walk: Walk, visit: Visit) -> Ended | Parked:
    try:
        await _limit(walk, visit)
    except NodeFailure as error:
        return Ended.badly(error.failure)
    return await _RUNNERS[visit.spec.kind](walk, visit)


async def _limit(walk: Walk, visit: Visit) -> None:
    """Fix the deadline: once per attempt, and once more where an operator let its effect be applied anew."""
    resolved = visit.resumed and visit.effect is not None and visit.effect.cause == "resolved"
    if visit.resumed and not resolved:
        return
    if visit.spec.dynamic_timeout:
        value = await walk.aside(walk.call_within(visit, ASIDE_LIMIT, visit.declaration.timeout, visit.context))
        try:
            walk.limit(visit, limit_us(value))
        except ValueError as error:
            raise walk.failed(visit, error) from None
    elif resolved:
        walk.limit(visit, visit.spec.timeout_us)


async def _after(walk: Walk, visit: Visit, ended: Ended) -> Visit | End:
    node = walk.ended(visit, ended)
    if ended.retriable and visit.tries_again(ended.outcome, ended.code):
        walk.finish(visit, ended, None)
        return await _retry(walk, node)
    where = routed(walk, node)
    walk.finish(visit, ended, where.place if isinstance(where, Go) else None)
    return await follow(walk, where, node)


async def _retry(walk: Walk, node: NodeState) -> Visit | End:
    """The next attempt, when its delay is over; a long delay needs no worker."""
    retry = walk.definition.nodes[node.path].retry
    assert retry is not None
    assert node.finished_at is not None
    due = min(node.finished_at + retry.delay_us(node.attempt), LATEST_US)
    left = walk.left(due)
    if left is not None and left > LONGEST_SLEEP:
        return End(ParkRun(reason="waiting", timer=Timer(kind="retry", due=due)), "parked")
    if left is not None and left > 0:
        await walk.commit()
        await asyncio.sleep(left)
    return walk.again(node.path)


def _unfit(walk: Walk, unfit: InputUnfit) -> End:
    """Nothing can be called without the input: a launch fails, and a run that had begun waits for what it lacks."""
    walk.log.line(f"{unfit.mount} ERROR", trace(unfit.__cause__ or unfit))
    if isinstance(walk.state.command, Start | Restart) and walk.unheard:
        walk.forget()
        fail = FailRun(outcome="failed", code="input_invalid", phase="load", message=cut(unfit.message, MAX_MESSAGE))
        return End(fail, "failed", "input_invalid", "load")
    detail = cut(f"{unfit.message} Put right what its check looks at, then resume the run.", MAX_MESSAGE)
    return End(ParkRun(reason="environment_missing", code="input_invalid", detail=detail), "parked")


async def _say(walk: Walk, end: End) -> WorkerEnd:
    phase = end.phase if end.outcome == "failed" else None
    await walk.commit(end.last, ExitWorker(outcome=end.outcome, phase=phase, code=end.code))
    return end.outcome


async def _refused(walk: Walk, refused: Refused) -> WorkerEnd:
    if refused.code in _NOT_OURS:
        return "claim_lost"
    try:
        return await _say(walk, _answer(walk, refused))
    except Refused:
        # What became of the run in the meantime stands in its stream; a worker that is not heard only stops.
        return "claim_lost"


def _answer(walk: Walk, refused: Refused) -> End:
    if refused.code == "paused":
        return End(ParkRun(reason="paused"), "parked")
    if refused.code == "max_steps_exceeded":
        message = f"The run used all of its {walk.state.max_steps} steps. Raise max_steps, or mend the loop."
        return End(fail_run("max_steps_exceeded", message), "finished")
    what = type(refused.transition).__name__
    return End(
        ParkRun(reason="protocol_rejected", code=refused.code, detail=f"{what} was refused: {refused.code}."),
        "failed",
        refused.code,
    )
