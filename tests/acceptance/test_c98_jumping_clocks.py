"""C98: jumps of the wall clock neither take a claim away nor keep one, and decide nothing about order."""

import asyncio
import itertools
from pathlib import Path

import pytest

from runwright import AsyncEngine, Context, JsonObject, Workflow, hours
from runwright.engine.reading.reader import Reader
from support.clocks import JumpingClock
from support.sound import check_sound

HOUR, YEAR = 3600.0, 365 * 86_400.0


@pytest.mark.parametrize("jump", [-2 * HOUR, 2 * HOUR, YEAR])
async def test_c98_a_jump_fails_nobody(home: Path, jump: float) -> None:
    """C98: live work keeps its claim and completes, what waits or is parked stays, and the log's order stands."""
    begun, opened = asyncio.Event(), asyncio.Event()
    live: Workflow[JsonObject] = Workflow("live")
    waiting: Workflow[JsonObject] = Workflow("waiting")

    @live.compute
    async def work(ctx: Context[JsonObject]) -> int:
        begun.set()
        await opened.wait()
        return 1

    @live.compute
    def after(ctx: Context[JsonObject]) -> int:
        return ctx.output(work) + 1

    live.entry(work)
    live.then(work, after)
    waiting.entry(waiting.wait("pause", hours(24 * 800)))
    clock = JumpingClock()
    async with AsyncEngine.open(home, clock=clock, workflows=[waiting]) as engine:
        dormant = await engine.start(waiting, {})
        parked = await engine.start(waiting, {})
        await engine.wait(dormant, timeout=0.01)
        while engine.reader.status(dormant).status != "waiting" or engine.reader.status(parked).status != "waiting":
            await asyncio.sleep(0.005)
        await engine.pause(parked)
        run_id = await engine.start(live, {})
        await begun.wait()
        standing = {each: engine.reader.status(each) for each in (dormant, parked, run_id)}
        for offset in (jump, 0.0, jump):
            clock.offset = offset
            await asyncio.sleep(0.02)
            assert {each: engine.reader.status(each).status for each in standing} == {
                dormant: "waiting", parked: "paused", run_id: "running"
            }  # fmt: skip
        opened.set()
        assert (await engine.wait(run_id)).output == 2
        assert engine.reader.query("queue", where=[f"run_id={run_id}"]).items[0]["generation"] == 1
    async with AsyncEngine.open(home, clock=JumpingClock(), workflows=[waiting]) as engine:
        assert engine.reader.status(dormant).status == "waiting"
        assert engine.reader.status(parked).status == "paused"
    with Reader.open(home) as reader:
        events = list(reader.events())
        assert [each.position for each in events] == list(range(1, len(events) + 1))
        assert any(later.at < earlier.at for earlier, later in itertools.pairwise(events))
        assert not reader.query("runs", where=["status=failed"]).items
    check_sound(home)


async def test_c98_dead_work_is_recovered_whatever_the_clock_says(home: Path) -> None:
    """C98: the claim of a program that is gone is void at once, two hours back or a year ahead."""
    begun = asyncio.Event()
    workflow: Workflow[JsonObject] = Workflow("dead")
    quick: list[int] = []

    @workflow.compute(timeout=None)
    async def work(ctx: Context[JsonObject]) -> int:
        begun.set()
        await asyncio.sleep(0 if quick else 3600)
        return 1

    workflow.entry(work)
    clock = JumpingClock()
    async with AsyncEngine.open(home, clock=clock) as engine:
        run_id = await engine.start(workflow, {})
        await begun.wait()
        await engine.close(grace=0)
    clock.offset = -2 * HOUR
    quick.append(1)
    async with AsyncEngine.open(home, clock=clock, workflows=[workflow]) as engine:
        outcome = await engine.wait(run_id, timeout=20)
        assert (outcome.status, outcome.output) == ("completed", 1)
    check_sound(home)
