"""Calling user functions: threads, coroutines, limits, and what cannot be stopped."""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable

import pytest

from runwright.engine.execution import calling
from runwright.engine.execution.calling import OutOfTime, Quit, call, in_thread, outlived, returned
from runwright.engine.execution.crew import Crew
from support.command_processes import LIMIT


async def test_a_plain_function_runs_in_a_thread_that_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls in a row share a thread, however slow the machine is, and see the caller's context variables."""
    monkeypatch.setattr(calling, "_crew", Crew(patience=LIMIT))
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable")
    variable.set(5)
    seen = {await call("run", 5, lambda: (threading.get_ident(), variable.get())) for _ in range(20)}
    assert len(seen) == 1
    assert (threading.get_ident(), 5) not in seen


async def test_what_is_awaitable_is_awaited() -> None:
    """A lambda around a coroutine function answers its value."""

    async def work() -> int:
        return 3

    assert await call("run", 5, lambda: work()) == 3
    assert await call("run", 5, work) == 3


async def test_a_timeout_of_the_functions_own_is_no_limit() -> None:
    """`TimeoutError` that the function raises stays its own."""

    def own() -> None:
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        await call("run", 5, own)
    with pytest.raises(OutOfTime):
        await call("run", 0, own)


async def test_a_coroutine_that_holds_up_its_loop_is_late_all_the_same() -> None:
    """What it returns after its time is no result; an error of its own tells more than the clock."""
    error: list[Exception] = []

    async def blocks() -> int:
        threading.Event().wait(0.05)
        if error:
            raise error[0]
        return 1

    with pytest.raises(OutOfTime):
        await call("run", 0.01, blocks)
    assert await call("run", 20, blocks) == 1
    assert not outlived("run")
    error.append(ValueError("mine"))
    with pytest.raises(ValueError, match="mine"):
        await call("run", 0.01, blocks)


@pytest.mark.parametrize(("takes", "limit", "in_time"), [(0, 0.05, True), (0.05, 0.01, False)])
async def test_a_loop_that_is_held_up_changes_nothing_for_a_thread(takes: float, limit: float, in_time: bool) -> None:
    """A plain function is in time by when it returned, not by when the loop came to hear of it."""
    begun, over = threading.Event(), threading.Event()

    def works() -> int:
        begun.set()
        threading.Event().wait(takes)
        over.set()
        return 1

    task = asyncio.ensure_future(call("held-up", limit, works))
    await asyncio.sleep(0)
    begun.wait(20)
    over.wait(20)
    threading.Event().wait(0.1)
    if in_time:
        assert await task == 1
    else:
        with pytest.raises(OutOfTime):
            await task
    await returned("held-up")


async def test_a_coroutine_that_cancels_itself_has_failed() -> None:
    """It does not look like a cancelled run."""

    async def odd() -> None:
        raise asyncio.CancelledError

    with pytest.raises(Quit, match="cancelled itself"):
        await call("run", 5, odd)


async def test_a_coroutine_that_swallows_its_cancellation(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot hold the attempt open, and is remembered until it has returned."""
    monkeypatch.setattr(calling, "GRACE", 0.02)
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    with pytest.raises(OutOfTime):
        await call("stubborn", 0.01, stubborn)
    assert outlived("stubborn")
    release.set()
    await returned("stubborn")
    assert not outlived("stubborn")


async def test_a_cancelled_call_remembers_its_thread() -> None:
    """Cancelling the caller leaves the function running, and known."""
    begun, release = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        release.wait(20)

    task = asyncio.ensure_future(in_thread("left", slow))
    await asyncio.to_thread(begun.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert outlived("left")
    assert not outlived("another")
    release.set()
    await returned("left")
    assert not outlived("left")


async def test_many_calls_at_once_do_not_wait_for_each_other() -> None:
    """A thread each; nothing queues behind a slow function."""
    barrier = threading.Barrier(40)
    waits: list[Awaitable[object]] = [call("run", 20, barrier.wait, 20) for _ in range(40)]
    assert sorted(int(str(each)) for each in await asyncio.gather(*waits)) == list(range(40))


async def test_a_call_that_is_left_before_it_began_never_begins() -> None:
    """It waits behind another one; given up there, it leaves nothing behind."""
    begun, release, called = threading.Event(), threading.Event(), list[int]()

    def slow() -> None:
        begun.set()
        release.wait(20)

    first = asyncio.ensure_future(in_thread("first", slow))
    await asyncio.to_thread(begun.wait, 20)
    second = asyncio.ensure_future(in_thread("second", called.append, 1))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert not outlived("second")
    release.set()
    await first
    await call("third", 5, called.append, 3)
    assert called == [3]


async def test_quick_calls_go_on_behind_a_slow_one() -> None:
    """A blocked function holds its own thread and nobody else's call."""
    begun, release = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        release.wait(20)

    blocked = asyncio.ensure_future(in_thread("slow", slow))
    await asyncio.to_thread(begun.wait, 20)
    answers = await asyncio.gather(*(call(f"quick-{each}", 20, int, each) for each in range(50)))
    assert answers == list(range(50))
    assert not blocked.done()
    release.set()
    await blocked
