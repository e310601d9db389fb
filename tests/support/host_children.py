"""A child of a fork server that runs a program of the test's."""

import asyncio
from pathlib import Path

from runwright.engine.commands.worker import StartNode
from runwright.engine.host.child import Child
from runwright.engine.host.children import ForkServers
from support.hosting import RUN, Hosted, marked_in

HEAD = """
import os, signal, subprocess, sys, time
from pathlib import Path
from runwright import Context, JsonObject, Workflow
flow = Workflow("flow")

def here():
    Path(str(os.getpid())).touch()

"""
FOOT = """
@flow.compute
def node(ctx: Context[JsonObject]) -> int:
    work(ctx)
    Path("worked").touch()
    time.sleep(600)
    return 1

flow.entry(node)
"""


async def working(servers: ForkServers, folder: Path, body: str, run_id: str = RUN) -> tuple[Child, Hosted]:
    """A worker whose node has done ``body`` and sleeps."""
    hosted = Hosted(folder, f"{HEAD}{body}{FOOT}", run_id=run_id)
    child = await servers.spawn()
    await child.send(hosted.launch)
    while not any(isinstance(each, StartNode) for each in hosted.transitions):
        message = await child.receive()
        assert message is not None
        await hosted.answer(child, message)
    async with asyncio.timeout(60):
        while not (folder / "worked").exists():
            await asyncio.sleep(0.01)
    return child, hosted


async def gone(folder: Path) -> None:
    """Wait until nothing lives that left its number in a folder."""
    async with asyncio.timeout(30):
        while marked_in(folder):
            await asyncio.sleep(0.01)
