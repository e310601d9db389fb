"""Children are ended to the last, whatever they do; their host's memory and loop stay its own."""

import asyncio
import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.engine import process_table
from runwright.engine.commands.worker import StartNode
from runwright.engine.errors import InterpreterUnusable
from runwright.engine.host.child import Child
from runwright.engine.host.children import ForkServers
from runwright.engine.processes import is_alive
from runwright.engine.wire.errors import WireError
from runwright.engine.worker.messages import Ask, Exiting, SayReady, Transact
from support.hosting import RUN, Hosted, fork_servers, marked_in

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
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only there orphans are given to the fork server")


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


PROGRAMS = """
def work(ctx):
    here()
    for _ in range(3):
        subprocess.Popen(["sh", "-c", "touch $$; sleep 600 & touch $!; wait"])
    while len([name for name in os.listdir() if name.isdigit()]) < 7:
        time.sleep(0.01)
"""
BOMB = """
def work(ctx):
    here()
    for _ in range(2):
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            for _ in range(99):
                if os.fork() == 0:
                    break
            here()
            while True:
                time.sleep(600)
    while len([name for name in os.listdir() if name.isdigit()]) < 201:
        time.sleep(0.01)
"""
DAEMON = """
def work(ctx):
    here()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            here()
            Path("daemon").touch()
            time.sleep(600)
        os._exit(0)
    while not Path("daemon").exists():
        time.sleep(0.01)
"""
HIDING = """
def work(ctx):
    here()
    subprocess.Popen(["sh", "-c", "setsid env -i sh -c 'touch $$; touch daemon; sleep 600' &"], env={})
    while not Path("daemon").exists():
        time.sleep(0.01)
"""
STUBBORN = """
def work(ctx):
    here()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
"""

CHAIN = """
def work(ctx):
    here()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            if os.fork() != 0:
                os._exit(0)
            Path("chain").touch()
    while not Path("chain").exists():
        time.sleep(0.01)
"""


async def test_a_chain_of_processes_too_quick_to_be_seen_ends_with_its_worker(tmp_path: Path) -> None:
    """Each has forked the next and is gone before anybody has looked at it; together they are a group."""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, CHAIN)
        assert await child.end(grace=0.2)
        async with asyncio.timeout(30):
            (tmp_path / "chain").unlink()
            for _ in range(50):
                await asyncio.sleep(0.01)
                assert not (tmp_path / "chain").exists()


@pytest.mark.parametrize("body", [PROGRAMS, BOMB, STUBBORN], ids=["programs", "bomb", "stubborn"])
async def test_a_worker_is_ended_with_everything_it_started(tmp_path: Path, body: str) -> None:
    """Programs and their children, two hundred processes that do not hear SIGTERM, one that blocks it."""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, body)
        assert marked_in(tmp_path)
        assert await child.end(grace=0.2)
        assert marked_in(tmp_path) == []
        assert child.unkillable == ()


@linux_only
@pytest.mark.parametrize("body", [DAEMON, HIDING], ids=["forked", "without environment"])
@pytest.mark.parametrize("crashed", [False, True], ids=["ended", "crashed"])
async def test_what_left_the_session_is_found_and_named(tmp_path: Path, body: str, crashed: bool) -> None:
    """A daemon, with its run's mark or without, whether its worker was ended or had crashed before."""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, body)
        left = set(marked_in(tmp_path)) - {child.identity.pid}
        if crashed:
            os.kill(child.identity.pid, signal.SIGKILL)
            assert await child.exited() == -signal.SIGKILL
        assert await child.end(grace=0.2)
        assert marked_in(tmp_path) == []
        assert {each.pid for each in child.escaped} >= left


@linux_only
async def test_what_one_worker_left_is_not_taken_for_another_ones(tmp_path: Path) -> None:
    """Ending one leaves the other and its children alone."""
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    async with fork_servers() as servers:
        one, _ = await working(servers, tmp_path / "one", DAEMON)
        other, _ = await working(servers, tmp_path / "other", HIDING, "another")
        living = marked_in(tmp_path / "other")
        assert await one.end(grace=0.1)
        assert marked_in(tmp_path / "one") == []
        assert marked_in(tmp_path / "other") == living
        assert await other.end(grace=0.1)


@linux_only
@pytest.mark.parametrize("somebody", [False, True], ids=["alone", "beside one that left something"])
async def test_what_a_child_left_is_looked_for_unless_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, somebody: bool
) -> None:
    """Whatever loses its parent comes to the fork server: where nobody has come, nobody is looked for."""
    looks = 0
    every = process_table.every

    def counted() -> Iterator[process_table.Process]:
        nonlocal looks
        looks += 1
        return every()

    async with fork_servers() as servers:
        if somebody:
            crashed, _ = await working(servers, tmp_path, HIDING)
            os.kill(crashed.identity.pid, signal.SIGKILL)
            await crashed.exited()
        child = await servers.spawn()
        await child.send(Ask(question={}, cwd=tmp_path))
        assert await child.receive() is not None
        assert await child.exited() == 0
        monkeypatch.setattr(process_table, "every", counted)
        assert await child.end()
        assert bool(looks) == somebody
        if somebody:
            assert len(marked_in(tmp_path)) == 1, "what another one left is that one's"
            assert await crashed.end(grace=0.1)
        assert marked_in(tmp_path) == []


async def test_a_stopped_worker_is_ended(tmp_path: Path) -> None:
    """SIGSTOP does not save it."""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, "def work(ctx):\n    here()\n")
        os.kill(child.identity.pid, signal.SIGSTOP)
        assert await child.end(grace=0.2)
        assert is_alive(child.identity) is False


async def test_the_end_of_the_channel_is_the_end_of_the_child(tmp_path: Path) -> None:
    """And of what it started, without anybody's signal."""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, PROGRAMS)
        child.close()
        assert await child.exited() == 1
        await gone(tmp_path)


async def test_the_end_of_the_fork_server_is_the_end_of_everything(tmp_path: Path) -> None:
    """Its workers, what they started, and what left their sessions."""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, HIDING if sys.platform == "linux" else PROGRAMS)
        assert marked_in(tmp_path)
    assert marked_in(tmp_path) == []
    await child.exited()
    assert await child.end()


@linux_only
async def test_a_fork_server_that_is_killed_is_replaced(tmp_path: Path) -> None:
    """Its children are served on and ended whole, and the next ones come from another."""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, DAEMON)
        found = process_table.look(child.identity.pid)
        assert found is not None
        os.kill(found.parent, signal.SIGKILL)
        assert await (await servers.spawn()).end()
        assert await child.end(grace=0.2)
        assert marked_in(tmp_path) == []
        assert await child.exited() is None


async def test_a_child_can_be_ended_while_its_fork_server_stands_still(tmp_path: Path) -> None:
    """Whoever fetches ends and names orphans may itself be stopped."""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, PROGRAMS)
        found = process_table.look(child.identity.pid)
        assert found is not None
        os.kill(found.parent, signal.SIGSTOP)
        try:
            assert await child.end(grace=0.2)
            assert marked_in(tmp_path) == []
        finally:
            os.kill(found.parent, signal.SIGCONT)


@linux_only
@pytest.mark.parametrize("grace", [0.0, 1.0])
async def test_a_child_that_exits_by_itself_leaves_nothing_either(tmp_path: Path, grace: float) -> None:
    """What it left is ended with its own end, and its exit code is known by then."""
    body = f"{HIDING}\n    Path('worked').touch()\n    os._exit(7)\n"
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, body)
        while await _next(child) is not None:
            pass
        assert await child.end(grace=grace)
        assert (marked_in(tmp_path), child.status) == ([], 7)
        assert child.escaped


@pytest.mark.parametrize("step", range(4))
async def test_a_worker_may_die_at_each_step(tmp_path: Path, step: int) -> None:
    """Before the launch, before it is ready, before its first node, in it: its channel closes and its end is told."""
    hosted = Hosted(tmp_path, f"{HEAD}def work(ctx):\n    os.kill(os.getpid(), 9)\n{FOOT}")
    async with fork_servers() as servers:
        child = await servers.spawn()
        if step > 0:
            await child.send(hosted.launch)
        if step > 1:
            ready = await hosted.until(child, SayReady)
        if step > 2:
            await hosted.answer(child, ready)
            await hosted.answer(child, await hosted.until(child, Transact))
        else:
            os.kill(child.identity.pid, signal.SIGKILL)
        async with asyncio.timeout(60):
            assert await child.exited() == -signal.SIGKILL
            while await _next(child) is not None:
                pass
        assert await child.end()


async def _next(child: Child) -> object:
    try:
        return await child.receive()
    except OSError:
        return None  # what it had not read yet died with it


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


async def test_the_loop_goes_on_while_a_worker_is_ended(tmp_path: Path) -> None:
    """Also while two hundred processes are looked for and killed."""
    async with fork_servers() as servers:
        child, _ = await working(servers, tmp_path, BOMB)
        ending = asyncio.ensure_future(child.end(grace=0.2))
        turns = 0
        while not ending.done():
            await asyncio.sleep(0)
            turns += 1
        assert await ending
        assert turns > 50


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
