"""The workflows that the engine's figures drive: steps that do nothing, so that only the runtime is measured."""

import asyncio
import itertools
from pathlib import Path

from runwright import AsyncEngine, Context, JsonObject, Workflow


def steps(number: int) -> Workflow[JsonObject]:
    """A workflow of so many compute nodes in a row."""
    workflow = Workflow(f"bench-{number}")

    def step(ctx: Context[JsonObject]) -> int:
        return ctx.steps_left

    nodes = [workflow.compute(name=f"step_{each}")(step) for each in range(number)]
    workflow.entry(nodes[0])
    for before, after in itertools.pairwise(nodes):
        workflow.then(before, after)
    return workflow


async def drive(engine: AsyncEngine, workflow: Workflow[JsonObject], runs: int) -> None:
    """Start so many runs at once and wait until all of them have completed."""
    run_ids = await asyncio.gather(*(engine.start(workflow, {}) for _ in range(runs)))
    outcomes = await asyncio.gather(*(engine.wait(run_id) for run_id in run_ids))
    assert {outcome.status for outcome in outcomes} == {"completed"}


def finished_runs(home: Path, runs: int) -> None:
    """Fill a store with finished runs of ten steps."""

    async def fill() -> None:
        async with AsyncEngine.open(home) as engine:
            workflow = steps(10)
            for first in range(0, runs, 200):
                await drive(engine, workflow, min(200, runs - first))

    asyncio.run(fill())
