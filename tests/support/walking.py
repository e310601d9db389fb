"""A walk through commands in memory: what people, the holder and workers ask, one after another."""

from typing import Any, Final, cast

from hypothesis import strategies as st

from runwright.engine.commands.client import CancelRun, PauseRun, ResolveEffect, ResumeRun
from runwright.engine.commands.host import ClaimRun, FireTimer, ParkIdleRun, RecordExit, TimeOutRun
from runwright.engine.commands.worker import Authority, Ready
from runwright.engine.results import Adopted, Applied
from runwright.engine.transitions.worker import token_hash
from runwright.eventstore.log import EventLog
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.runs import RunRow
from support.memory_log import MemoryLog
from support.stage import PROCESS, Stage, TestClock, queue_command
from support.working import work
from support.world import FLOW, PRIVATE, RUNS_USED, World, check, tell


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
