"""Fork servers and their channels: what is refused, what is bounded, and what is never loaded into a host."""

import asyncio
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from runwright.engine import process_table
from runwright.engine.errors import InterpreterUnusable
from runwright.engine.wire.errors import WireError
from runwright.engine.worker.messages import Ask, Exiting
from support.host_children import working
from support.hosting import fork_servers

SPEAKING = """
import socket

def channel():
    for descriptor in range(3, 64):
        try:
            found = socket.socket(fileno=os.dup(descriptor))
        except OSError:
            continue
        if found.family == socket.AF_UNIX and found.type == socket.SOCK_STREAM:
            try:
                found.getpeername()
            except OSError:
                continue
            import runwright.engine.worker.channel as ours, gc
            if any(each._socket.fileno() == descriptor for each in gc.get_objects() if type(each) is ours.Channel):
                return found

"""


@pytest.mark.parametrize(
    "sent", [b"{]\n", b'{"type":"hunt"}\n', b"x" * 2_000_000, b'{"type":"ready","run_id":1}\n', b"\xff\n"]
)
async def test_a_frame_that_is_none_is_an_error_of_its_worker(tmp_path: Path, sent: bytes) -> None:
    """The host gets one typed error, and ends the worker."""
    body = f"{SPEAKING}\ndef work(ctx):\n    here()\n    Path('worked').touch()\n    channel().sendall({sent!r})\n"
    async with fork_servers() as servers:
        child, hosted = await working(servers, tmp_path, body)
        with pytest.raises(WireError) as refused:
            await hosted.until(child, Exiting)
        assert "hunt" not in refused.value.message
        assert await child.end(grace=0.1)


async def test_a_flood_waits_in_the_workers_own_pipe(tmp_path: Path) -> None:
    """Nothing is read that nobody receives, and what is received is let go."""
    flood = '{"type":"renew","run_id":"run","generation":1,"worker":"worker","id":1}\\n'
    body = f"""{SPEAKING}
def work(ctx):
    here()
    Path('worked').touch()
    mine = channel()
    while True:
        mine.sendall(b'{flood}' * 1000)
"""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, body)
        tracemalloc.start()
        try:
            for _ in range(20_000):
                await child.receive()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8 * 1024 * 1024
        assert await child.end(grace=0.1)


@pytest.mark.parametrize("interpreter", ["missing-python-of-a-test", "/bin/false"])
async def test_an_interpreter_without_runwright_is_refused(tmp_path: Path, interpreter: str) -> None:
    """With the command that installs it."""
    async with fork_servers() as servers:
        with pytest.raises(InterpreterUnusable) as refused:
            await servers.spawn(interpreter)
        assert "pip install runwright" in refused.value.hint
        assert await (await servers.spawn()).end()


async def test_another_version_is_refused(tmp_path: Path) -> None:
    """Both versions are named."""
    fake = tmp_path / "python"
    fake.write_text(
        f"#!{sys.executable}\n"
        "import sys, socket, runwright\n"
        "runwright.__version__ = '9.9'\n"
        "sys.argv = sys.argv[3:]\n"
        "from runwright.engine.worker.forkserver import main\n"
        "main()\n"
    )
    fake.chmod(0o700)
    async with fork_servers() as servers:
        with pytest.raises(InterpreterUnusable, match=r"it has runwright 9\.9"):
            await servers.spawn(str(fake))


async def test_a_fork_server_without_children_is_ended() -> None:
    """After a while; the next child comes from a new one."""
    async with fork_servers(idle_after=0.05) as servers:
        child = await servers.spawn()
        found = process_table.look(child.identity.pid)
        assert found is not None
        assert await child.end()
        async with asyncio.timeout(60):
            while (server := process_table.look(found.parent)) is not None and not server.ended:
                await asyncio.sleep(0.02)
        assert await (await servers.spawn()).end()


async def test_a_cancelled_request_leaves_no_child_behind() -> None:
    """Whoever gives up asking gets nothing, and keeps nothing."""
    async with fork_servers() as servers:
        await servers.warm()
        for pause in (0, 0, 0.001, 0.002):
            asking = asyncio.ensure_future(servers.spawn())
            await asyncio.sleep(pause)
            asking.cancel()
            await asyncio.wait({asking})
            if not asking.cancelled():
                await asking.result().end()
        child = await servers.spawn()
        await child.send(Ask(question={}, cwd=Path("/")))
        assert await child.receive() is not None
        assert await child.end()


def test_a_child_needs_no_store() -> None:
    """Neither a worker's code nor the fork server's imports SQLAlchemy."""
    script = "import sys, runwright.engine.worker.forkserver, runwright.engine.worker.entry as e; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert {"sqlalchemy", "rich", "click", "sqlite3"} & set(shown) == set()
