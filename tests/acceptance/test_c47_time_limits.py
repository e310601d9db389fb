"""C47: a node's limit counts from its start, through crashes and stopped programs, and fires once."""

import asyncio
from datetime import timedelta
from pathlib import Path

from runwright import AsyncEngine, Context, JsonObject, Workflow
from runwright.engine.reading.reader import Reader
from runwright.eventstore.events.node import NodeFinished, NodeStarted
from support.clocks import JumpingClock
from support.sound import check_sound

LIMIT = 10


async def go_on(engine: AsyncEngine, run_id: str) -> None:
    """Ask for what does not go on by itself: a program that was stopped twice in the same place."""
    if (await engine.status(run_id)).queue_state == "parked":
        await engine.resume(run_id)


async def test_c47_downtime_counts_and_queue_time_does_not(home: Path) -> None:
    """C47: queued for 15 s, at work for 6, away for 20: the one limit of the one attempt has passed, once."""
    begun = asyncio.Event()
    calls: list[int] = []
    workflow: Workflow[JsonObject] = Workflow("slow")

    @workflow.compute(timeout=LIMIT)
    async def work(ctx: Context[JsonObject]) -> int:
        calls.append(ctx.attempt)
        begun.set()
        await asyncio.sleep(3600)
        return 1

    workflow.entry(work)
    clock = JumpingClock()
    async with AsyncEngine.open(home, clock=clock) as engine:
        run_id = await engine.start(workflow, {}, drive=False)
    clock.offset += 15
    for seconds in (3, 3):  # two programs that are stopped before the limit
        begun.clear()
        async with AsyncEngine.open(home, clock=clock, workflows=[workflow]) as engine:
            await go_on(engine, run_id)
            await begun.wait()
            clock.offset += seconds
            await engine.close(grace=0)
    clock.offset += 20
    async with AsyncEngine.open(home, clock=clock, workflows=[workflow]) as engine:
        await go_on(engine, run_id)
        outcome = await engine.wait(run_id, timeout=20)
    assert outcome.status == "timed_out"
    assert calls == [1, 1]
    with Reader.open(home) as reader:
        (start,) = reader.events(run_id, types=["node.started"])
        (end,) = [each.event for each in reader.events(run_id, types=["node.finished"])]
        created = next(reader.events(run_id, types=["run.queued"])).at
    assert isinstance(start.event, NodeStarted)
    assert isinstance(end, NodeFinished)
    assert start.event.deadline is not None
    # Worked out right before the start was committed.
    assert abs(start.event.deadline - start.at - LIMIT * 1_000_000) < 1_000_000
    assert timedelta(microseconds=start.at - created) >= timedelta(seconds=15)
    assert (end.outcome, end.attempt) == ("timed_out", 1)
    check_sound(home)
