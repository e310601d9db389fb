"""Tasks on a loop that the user's code shares: only what that code began is its own to cancel."""

import asyncio
from pathlib import Path

from runwright import AsyncEngine, Context, Engine, JsonObject, Workflow
from runwright.engine.tasks import Owner, end_task, own_task, task_of


async def test_a_function_cancels_only_what_it_began() -> None:
    """The engine's tasks and another call's go on; its own, and their children, end."""
    other = task_of(Owner(), asyncio.sleep(0.02, "other"))
    engine = own_task(asyncio.sleep(0.02, "engine"))

    async def wild() -> list[bool]:
        child = asyncio.get_running_loop().create_task(asyncio.sleep(20))
        answers = [each.cancel() for each in (other, engine)]
        child.cancel()
        return answers

    assert await task_of(Owner(), wild()) == [False, False]
    assert await other == "other"
    assert await engine == "engine"


async def test_the_engine_ends_whatever_it_began() -> None:
    """Also where a function of the user's asked it to."""
    task = own_task(asyncio.sleep(20))

    async def asks() -> None:
        end_task(task)

    await task_of(Owner(), asks())
    await asyncio.wait({task}, timeout=20)
    assert task.cancelled()


def wild_workflow(later: bool) -> Workflow[JsonObject]:
    """One node that cancels every task on its loop, and waits for what comes of it or not."""
    workflow = Workflow("wild")

    @workflow.compute
    async def cancels(ctx: Context[JsonObject]) -> int:
        for task in asyncio.all_tasks():
            task.cancel()
        if later:
            await asyncio.sleep(1)
        return 1

    workflow.entry(cancels)
    return workflow


def fine() -> Workflow[JsonObject]:
    """One node that does nothing."""
    workflow = Workflow("fine")

    @workflow.compute
    async def one(ctx: Context[JsonObject]) -> int:
        await asyncio.sleep(0.05)
        return 1

    workflow.entry(one)
    return workflow


def test_a_node_that_cancels_everything_fails_alone(tmp_path: Path) -> None:
    """The engine goes on, and so do the other runs on its loop."""
    with Engine.open(tmp_path / "home") as engine:
        beside = engine.start(fine(), {})
        for later in (True, False):
            outcome = engine.run(wild_workflow(later), {}, timeout=20)
            assert outcome.status == "failed"
            assert outcome.error is not None
            assert outcome.error.code == "node_failed"
        assert engine.wait(beside, timeout=20).status == "completed"
        assert engine.run(fine(), {}, timeout=20).status == "completed"


async def test_an_engine_on_the_programs_own_loop_goes_on_too(tmp_path: Path) -> None:
    """There the program's own tasks are its own to cancel; the engine's are not."""
    async with AsyncEngine.open(tmp_path / "home") as engine:
        run_id = await engine.start(wild_workflow(True), {})
        task = asyncio.current_task()
        try:
            await engine.wait(run_id, timeout=20)
        except asyncio.CancelledError:
            assert task is not None
            task.uncancel()
        assert (await engine.wait(run_id, timeout=20)).status == "failed"
        assert (await engine.run(fine(), {}, timeout=20)).status == "completed"
