"""C06: however a run of a session ended, the next one starts; a run that still holds it is named, and since when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.errors import EngineError
from support.hosts import Hosted, hosted
from support.socket_session import SocketSession, speaking
from support.sound import check_sound

FLOW = '''"""Ends as its input says."""

import os
import signal
import time

from runwright import Context, JsonObject, Workflow

flow = Workflow("ends", input=JsonObject)


@flow.compute
def work(ctx: Context[JsonObject]) -> str:
    """Die, or stay as long as nobody lets go, or work."""
    how = ctx.input["how"]
    if how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    while how == "stay" and not (ctx.cwd / "go").exists():
        time.sleep(0.01)
    return str(how)


flow.entry(work)
'''


@asynccontextmanager
async def world(tmp_path: Path) -> AsyncIterator[tuple[Hosted, SocketSession]]:
    """A host, and a session that is attached to it."""
    with hosted(tmp_path) as host:
        (host.project / "ends.py").write_text(FLOW)
        async with speaking(host.home) as pi:
            yield host, pi
    check_sound(tmp_path / "home")


async def start(host: Hosted, pi: SocketSession, how: str) -> str:
    """Start a run of the session, and reach its boundary."""
    started = await pi.client.run_start("ends.py", {"how": how}, cwd=host.project, project=host.project, session="s1")
    await pi.settle()
    return started.value


async def until(pi: SocketSession, run_id: str, **facts: Any) -> dict[str, Any]:
    """Wait until a run's status has these facts."""
    while True:
        found = await pi.client.run_status(run_id)
        if all(found[name] == value for name, value in facts.items()):
            return found
        await asyncio.sleep(0.02)


async def parked(pi: SocketSession, run_id: str, reason: str) -> None:
    """Wait until a run stands still for a reason."""
    while ((await pi.client.run_status(run_id))["reason"] or {}).get("code") != reason:
        await asyncio.sleep(0.02)


async def held(host: Hosted, pi: SocketSession, run_id: str) -> None:
    """A start is refused, and says by which run, of which workflow, and since when."""
    with pytest.raises(EngineError) as refused:
        await start(host, pi, "well")
    since = (await pi.client.run_status(run_id))["created_at"]
    assert refused.value.code == "session_busy"
    assert all(word in str(refused.value) for word in (run_id, "ends", since[:19]))
    assert (await pi.client.run_status(session="s1"))["run_id"] == run_id


async def free(host: Hosted, pi: SocketSession) -> None:
    """The next run of the session starts, and completes."""
    run_id = await start(host, pi, "well")
    await until(pi, run_id, status="completed")


async def test_c06_a_worker_that_was_killed(tmp_path: Path) -> None:
    """Parked it holds its session; cancelled it does not, in the very commit."""
    async with world(tmp_path) as (host, pi):
        run_id = await start(host, pi, "die")
        await parked(pi, run_id, "worker_no_progress")
        await held(host, pi, run_id)
        await pi.client.run_cancel(run_id)
        await free(host, pi)


async def test_c06_a_launch_that_failed_or_was_cancelled(tmp_path: Path) -> None:
    """Neither holds anything, nor does the message that the session is still to be told."""
    async with world(tmp_path) as (host, pi):
        started = await pi.client.run_start(
            "ends.py", {"how": "well"}, cwd=host.project, project=host.project, session="s1"
        )
        await held(host, pi, started.value)
        await pi.client.run_cancel(started.value)
        await free(host, pi)
        started = await pi.client.run_start(
            "ends.py", {"how": "well"}, cwd=host.project, project=host.project, session="s1"
        )
        (host.project / "ends.py").write_text(FLOW + "# changed\n")
        await pi.settle()
        failed = await until(pi, started.value, status="failed")
        assert failed["error"]["code"] == "source_changed"
        await free(host, pi)


async def test_c06_a_pause_and_a_host_that_was_killed(tmp_path: Path) -> None:
    """A run that goes on with the next host holds its session until it has ended, and no longer."""
    async with world(tmp_path) as (host, pi):
        run_id = await start(host, pi, "stay")
        await until(pi, run_id, node="work")
        await pi.client.run_pause(run_id)
        await held(host, pi, run_id)
        await asyncio.to_thread(host.kill)
        await asyncio.to_thread(host.start_again)
        await pi.attach(rests=True)
        await parked(pi, run_id, "paused")
        await held(host, pi, run_id)
        (host.project / "go").touch()
        await pi.client.run_resume(run_id)
        await until(pi, run_id, status="completed")
        await free(host, pi)
