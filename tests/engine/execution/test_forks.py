"""Processes forked by a node's function: each ends with the function and never goes on as the engine."""

import asyncio
import os
from collections.abc import Awaitable, Callable

import pytest

from runwright.engine.execution.calling import call

Forking = Callable[..., Awaitable[int]]


def ended(pid: int) -> int:
    """The exit code of a child, which has to end by itself."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize(
    ("child", "code"),
    [(None, 0), (SystemExit(7), 7), (SystemExit(), 0), (SystemExit("text"), 1), (ValueError("mine"), 1)],
)
async def test_a_child_ends_with_a_plain_function(child: BaseException | None, code: int) -> None:
    """It leaves the thread of the crew in the parent only, whichever way its function ends."""

    def forking() -> int:
        pid = os.fork()
        if pid == 0 and child is not None:
            raise child
        return pid

    pid = await call("run", 20, forking)
    assert pid != 0
    assert await asyncio.to_thread(ended, int(str(pid))) == code


@pytest.mark.parametrize("child", [None, SystemExit(7), ValueError("mine")])
async def test_a_child_ends_with_a_coroutine(child: BaseException | None) -> None:
    """It never comes back to the loop that it inherited."""

    async def forking() -> int:
        await asyncio.sleep(0)
        pid = os.fork()
        if pid == 0 and child is not None:
            raise child
        return pid

    pid = await call("run", 20, forking)
    assert pid != 0
    expected = 0 if child is None else 7 if isinstance(child, SystemExit) else 1
    assert await asyncio.to_thread(ended, int(str(pid))) == expected


async def test_a_child_that_waits_ends_there() -> None:
    """Waiting goes back to the loop, which is the parent's."""
    loop = asyncio.get_running_loop()

    async def forking() -> int:
        pid = os.fork()
        await loop.create_future() if pid == 0 else await asyncio.sleep(0)
        return pid

    pid = await call("run", 20, forking)
    assert await asyncio.to_thread(ended, int(str(pid))) == 0


async def test_a_child_of_a_task_ends_with_the_turn() -> None:
    """What a node gathers are tasks of the loop, too."""

    async def part() -> int:
        await asyncio.sleep(0)
        return os.fork()

    async def forking() -> list[int]:
        return list(await asyncio.gather(part(), part()))

    found = await call("run", 20, forking)
    assert isinstance(found, list)
    for pid in found:
        assert await asyncio.to_thread(ended, pid) == 0
