"""Jobs that both kinds of engine are given, and one that waits to be let on."""

import asyncio
import itertools
import threading
from typing import Any

from attrs import frozen

from runwright import Context, Workflow
from runwright.eventstore.errors import StoreClosed
from support.engines import until


@frozen
class Job:
    """What to do."""

    number: int
    word: str = "a"


def chain(*functions: Any, name: str = "chain", **options: Any) -> Workflow[Job]:
    """A workflow of compute nodes in a row."""
    workflow = Workflow(name, input=Job, **options)
    nodes = [workflow.compute(each) for each in functions]
    workflow.entry(nodes[0])
    for before, after in itertools.pairwise(nodes):
        workflow.then(before, after)
    return workflow


def double(ctx: Context[Job]) -> int:
    """Twice the number."""
    return ctx.input.number * 2


def say(ctx: Context[Job]) -> str:
    """The number in a sentence."""
    return f"{ctx.outputs['double']} {ctx.input.word}"


class Gate:
    """A node's function that says it has begun and waits to be let on; it counts how often it was called."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.open = threading.Event()
        self.calls = 0

    def gate(self, ctx: Context[Job]) -> int:
        """Wait."""
        self.calls += 1
        self.begun.set()
        assert self.open.wait(30)
        return self.calls

    async def reached(self) -> None:
        """Wait until the function is at work."""
        assert await asyncio.to_thread(self.begun.wait, 30)


async def close_at_the_boundary(engine: Any, run_id: str, gate: Gate) -> Any:
    """Close an engine, and let the node under way finish only when it is closing."""

    async def is_closing() -> bool:
        try:
            await engine.drive(run_id)
        except StoreClosed:
            return True
        return False

    closing = asyncio.create_task(engine.close())
    await until(is_closing)
    gate.open.set()
    return await closing
