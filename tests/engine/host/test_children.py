"""Children of a fork server are ended to the last process, whatever they do."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.engine import process_table
from runwright.engine.host.child import Child
from runwright.engine.processes import is_alive
from runwright.engine.worker.messages import Ask, SayReady, Transact
from support.host_children import FOOT, HEAD, gone, working
from support.hosting import Hosted, fork_servers, marked_in

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only there orphans are given to the fork server")


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
