"""Fork servers that stand still hold up nobody: they are replaced, and none outlives its host."""

import asyncio
import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from runwright.engine import process_table
from runwright.engine.host import fork_server
from runwright.engine.host.child import Child
from runwright.engine.host.children import ForkServers
from runwright.engine.host.fork_server import ForkServer
from runwright.engine.process_table import Process
from runwright.engine.processes import is_alive
from support.hosting import fork_servers
from support.hosts import PATIENCE, hosted, wait

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only there a process is woken by its parent's end")

FLOW = '''
"""A node that waits for a file."""
import time

from runwright import Context, JsonObject, Workflow

flow = Workflow("waits")

@flow.compute
def node(ctx: Context[JsonObject]) -> int:
    (ctx.cwd / f"at-{ctx.input['name']}").touch()
    while not (ctx.cwd / "go").exists():
        time.sleep(0.01)
    return 1

flow.entry(node)
'''


def parent_of(child: Child) -> int:
    """The process that started a child."""
    found = process_table.look(child.identity.pid)
    assert found is not None
    return found.parent


async def the_server(servers: ForkServers) -> ForkServer:
    """The one fork server that there is."""
    await servers.warm()
    (task,) = servers._servers.values()
    return await task


def servers_of(host: int) -> list[Process]:
    """The fork servers of a host."""
    return [each for each in process_table.every() if each.parent == host and not each.ended]


async def test_one_that_stands_still_is_replaced_and_its_children_live_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks next is served by another; the end of a child that outlived its server is still seen."""
    monkeypatch.setattr(fork_server, "_SILENCE", 0.3)
    monkeypatch.setattr(fork_server, "_HEARING", 0.1)
    async with fork_servers() as servers, asyncio.timeout(PATIENCE):
        before = await servers.spawn()
        stopped = parent_of(before)
        os.kill(stopped, signal.SIGSTOP)
        after = await servers.spawn()
        assert parent_of(after) != stopped
        assert is_alive(before.identity)
        while (found := process_table.look(stopped)) is not None and not found.ended:
            await asyncio.sleep(0.01)
        assert await after.end()
        os.kill(before.identity.pid, signal.SIGKILL)
        assert await before.exited() is None
        assert await before.end()


async def test_one_that_goes_on_in_time_is_kept() -> None:
    """It answers late what it was asked meanwhile."""
    async with fork_servers() as servers, asyncio.timeout(PATIENCE):
        before = await servers.spawn()
        os.kill(parent_of(before), signal.SIGSTOP)
        asking = asyncio.ensure_future(servers.spawn())
        await asyncio.sleep(0.05)
        os.kill(parent_of(before), signal.SIGCONT)
        after = await asking
        assert parent_of(after) == parent_of(before)
        assert await before.end()
        assert await after.end()


async def test_a_host_that_stood_still_itself_hears_its_fork_server_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a suspended laptop: the answer is there, and so is the moment to give up."""
    monkeypatch.setattr(fork_server, "_SILENCE", 0.2)
    async with fork_servers() as servers, asyncio.timeout(PATIENCE):
        server = await the_server(servers)
        asking = asyncio.ensure_future(servers.spawn())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        time.sleep(0.5)  # the loop itself stands still
        child = await asking
        assert server.alive
        assert await child.end()


async def test_many_who_ask_at_once_find_no_room_and_wait_for_it() -> None:
    """More than the control socket takes: each gets a child, and the fork server is no worse for it."""
    async with fork_servers() as servers, asyncio.timeout(PATIENCE):
        server = await the_server(servers)
        server._control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2048)
        children = await asyncio.gather(*(servers.spawn() for _ in range(24)))
        assert server.alive
        assert all(await asyncio.gather(*(each.end(grace=0.1) for each in children)))


async def test_one_that_stands_still_ends_when_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is woken, and ends everything of its own as ever; nobody has to lose patience."""
    monkeypatch.setattr(fork_server, "_END", 600.0)
    async with fork_servers() as servers, asyncio.timeout(PATIENCE):
        child = await servers.spawn()
        os.kill(parent_of(child), signal.SIGSTOP)
        await servers.close()
        assert is_alive(child.identity) is False
        assert await child.end()


@linux_only
def test_one_that_stands_still_does_not_outlive_a_killed_host(tmp_path: Path) -> None:
    """Nor does what its worker carries out; the next host goes on with it."""
    with hosted(tmp_path) as at:
        (at.project / "flow.py").write_text(FLOW)
        run_id = at.start("flow.py", name="one")
        wait((at.project / "at-one").exists)
        (server,) = servers_of(at.pid)
        os.kill(server.pid, signal.SIGSTOP)
        at.kill()
        wait(lambda: process_table.look(server.pid) is None)
        (at.project / "go").touch()
        at.start_again()
        assert at.ended(run_id)["status"] == "completed"
        assert at.workers() == ["orphaned", "finished"]


def test_a_start_goes_on_beside_one_that_stands_still(tmp_path: Path) -> None:
    """What runs goes on, what is started starts, and neither is launched twice."""
    with hosted(tmp_path) as at:
        (at.project / "flow.py").write_text(FLOW)
        one = at.start("flow.py", name="one")
        wait((at.project / "at-one").exists)
        (server,) = servers_of(at.pid)
        os.kill(server.pid, signal.SIGSTOP)
        other = at.start("flow.py", name="other")
        wait((at.project / "at-other").exists)
        assert at.status(one)["queue_state"] == "running"
        (at.project / "go").touch()
        assert {at.ended(run_id)["status"] for run_id in (one, other)} == {"completed"}
        assert at.workers() == ["finished", "finished"]
        wait(lambda: at.client.host_status()["workers"] == 0)
        assert "a fork server was given up" in (at.home / "host.log").read_text()
