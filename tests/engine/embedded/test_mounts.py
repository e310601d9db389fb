"""Mounted children in a real store: stopped at the boundaries around them, and carried on by another engine."""

import asyncio
from pathlib import Path

import pytest

from runwright import AsyncEngine, Context, JsonObject, Workflow
from runwright.engine.embedded.outcome import Outcome
from runwright.eventstore.events.node import MountEntered, MountExited


class Gate:
    """Holds a node of a name until a test lets it go on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def pass_by(self, name: str) -> None:
        """Stop here where this is the node."""
        if name == self.name:
            self.reached.set()
            await self.open.wait()


def flow(gate: Gate) -> Workflow[JsonObject]:
    """Two rounds around a mount in a mount."""
    inner = Workflow("inner")

    @inner.compute
    async def work(ctx: Context[JsonObject]) -> str:
        await gate.pass_by(f"work {ctx.visit}")
        return f"{ctx.input['round']}/{ctx.visit}"

    inner.entry(work)
    out = inner.exit("out", work)

    outer = Workflow("outer")
    part = outer.include("part", inner, input=lambda ctx: ctx.input)

    @outer.compute
    async def wrap(ctx: Context[JsonObject]) -> str:
        await gate.pass_by(f"wrap {ctx.visit}")
        return f"({ctx.output(part[out])})"

    outer.entry(part)
    outer.then(part[out], wrap)
    wrapped = outer.exit("wrapped", wrap)

    root = Workflow("root")

    @root.compute
    async def begin(ctx: Context[JsonObject]) -> int:
        await gate.pass_by(f"begin {ctx.visit}")
        return ctx.visits(begin)

    mount = root.include("whole", outer, input=lambda ctx: {"round": ctx.output(begin)})

    @root.compute
    def end(ctx: Context[JsonObject]) -> list[str | int]:
        return [ctx.output(mount[wrapped]), ctx.visits(mount), ctx.visits(begin)]

    root.entry(begin)
    root.then(begin, mount)
    root.then(mount[wrapped], begin)
    root.limit(begin, visits=2, to=end)
    return root


async def ended(engine: AsyncEngine, run_id: str) -> Outcome:
    """Wait for the end."""
    async with asyncio.timeout(30):
        return await engine.wait(run_id)


@pytest.mark.parametrize("held", ["begin 1", "work 1", "wrap 1", "begin 2", "work 2", "wrap 2"])
@pytest.mark.parametrize("how", ["pause", "close"])
def test_a_run_stopped_at_a_boundary_goes_on_from_there(held: str, how: str, tmp_path: Path) -> None:
    """In another engine, which reads from the store where the run stands; nothing is entered or left twice."""

    async def story() -> None:
        gate = Gate(held)
        workflow = flow(gate)
        async with AsyncEngine.open(tmp_path, workflows=[workflow]) as engine:
            run_id = await engine.start(workflow, {})
            await gate.reached.wait()
            if how == "pause":
                await engine.pause(run_id)
                gate.open.set()
                await engine.wait(run_id, until="waiting")
            else:
                closing = asyncio.ensure_future(engine.close())
                await asyncio.sleep(0)
                gate.open.set()
                await closing
        async with AsyncEngine.open(tmp_path, workflows=[flow(Gate("nothing"))]) as engine:
            if how == "pause":
                await engine.resume(run_id)
            outcome = await ended(engine, run_id)
            assert outcome.output == ["(2/2)", 2, 2]
            events = [each.event for each in engine.reader.events(types=["mount.*"])]
            entries = [(each.path, each.invocation) for each in events if isinstance(each, MountEntered)]
            exits = [(each.path, each.invocation, each.exit) for each in events if isinstance(each, MountExited)]
            assert entries == [("whole", 1), ("whole/part", 1), ("whole", 2), ("whole/part", 2)]
            assert exits == [
                ("whole/part", 1, "out"),
                ("whole", 1, "wrapped"),
                ("whole/part", 2, "out"),
                ("whole", 2, "wrapped"),
            ]

    asyncio.run(story())


def asked() -> Workflow[JsonObject]:
    """A checkpoint inside a mount, which is its way out, in two rounds."""
    child = Workflow("child")

    @child.compute
    def prepare(ctx: Context[JsonObject]) -> str:
        return f"{ctx.input['round']}"

    @child.checkpoint(summary="All well?", returns=str)
    def ask(ctx: Context[JsonObject]) -> str:
        return ctx.output(prepare)

    child.entry(prepare)
    child.then(prepare, ask)
    way = child.exit("way", ask)
    root = Workflow("asked")

    @root.compute
    def begin(ctx: Context[JsonObject]) -> int:
        return ctx.visits(begin)

    mount = root.include("sub", child, input=lambda ctx: {"round": ctx.output(begin)})

    @root.compute
    def end(ctx: Context[JsonObject]) -> list[str | int]:
        return [ctx.output(mount[way]), ctx.visits(mount), ctx.visits(begin)]

    root.entry(begin)
    root.then(begin, mount)
    root.then(mount[way], begin)
    root.limit(begin, visits=2, to=end)
    return root


@pytest.mark.parametrize("reopened", [False, True])
def test_a_checkpoint_inside_a_mount_carries_on_there(reopened: bool, tmp_path: Path) -> None:
    """The run that carries on stands in the same invocation, leaves it with the answer, and counts on."""

    async def story() -> None:
        workflow = asked()
        async with AsyncEngine.open(tmp_path, workflows=[workflow]) as engine:
            run_id = await engine.start(workflow, {})
            run_id = await answered(engine, run_id, "first", drive=not reopened)
            if not reopened:
                run_id = await answered(engine, run_id, "second", drive=True)
                assert (await ended(engine, run_id)).output == ["second", 2, 2]
                return
        async with AsyncEngine.open(tmp_path, workflows=[asked()]) as engine:
            run_id = await answered(engine, run_id, "second", drive=True)
            assert (await ended(engine, run_id)).output == ["second", 2, 2]
            assert (await engine.status(run_id)).steps.used == 7

    asyncio.run(story())


async def answered(engine: AsyncEngine, run_id: str, value: str, *, drive: bool) -> str:
    """Answer what a run waits for; the ID of the run that carries on."""
    async with asyncio.timeout(30):
        await engine.wait(run_id, until="waiting")
    (request,) = await engine.requests(run_id)
    assert request.path == "sub/ask"
    return (await engine.answer(request.request_id, value, drive=drive)).run_id
