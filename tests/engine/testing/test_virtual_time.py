"""Does the virtual clock follow from the run alone, and not from how quick the machine is?"""

import asyncio
import itertools
import selectors
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from runwright import Context, JsonObject, Workflow, seconds, testing
from runwright.engine.testing import virtual_time
from runwright.engine.testing.virtual_time import VirtualClock, run_virtually


def test_a_machine_that_stands_still_is_not_a_run_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience is counted in turns: one in which nobody ran is one, however long it took."""
    monkeypatch.setattr(virtual_time, "PATIENCE", 3 * virtual_time.TURN)
    answered = _stand_still(monkeypatch, 4 * virtual_time.TURN)
    assert run_virtually(VirtualClock(0), answered) == "answered"


def test_a_machine_that_stands_still_uses_up_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where a function in a thread is waited for within a limit."""
    answered = _stand_still(monkeypatch, 4 * virtual_time.TURN)

    async def within() -> str:
        held = threading.Event()
        thread = asyncio.ensure_future(asyncio.to_thread(held.wait))
        try:
            async with asyncio.timeout(3 * virtual_time.TURN):
                return await answered()
        finally:
            held.set()
            await thread

    assert run_virtually(VirtualClock(0), within) == "answered"


def test_a_thread_is_heard_before_the_loop_goes_on() -> None:
    """Who is first, a function in a thread or what else there is to do, is the same each time."""

    async def turns() -> int:
        thread = asyncio.ensure_future(asyncio.to_thread(time.sleep, 0.05))
        turns = 0
        while not thread.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert run_virtually(VirtualClock(0), turns) < 5, "as many as it takes to hear of it"


def test_a_thread_that_waits_for_the_loop_holds_it_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop goes on without one that is slow, and no longer waits for it again and again."""
    monkeypatch.setattr(virtual_time, "PROMPT", 2 * virtual_time.TURN)
    told = threading.Event()

    async def turns() -> None:
        thread = asyncio.ensure_future(asyncio.to_thread(told.wait))
        for _ in range(200):
            await asyncio.sleep(0)
        told.set()
        await thread

    begun = time.monotonic()
    run_virtually(VirtualClock(0), turns)
    assert time.monotonic() - begun < 100 * 2 * virtual_time.TURN


def test_a_function_that_blocks_beyond_its_limit_is_out_of_time() -> None:
    """It is really waited for, and then the time has passed."""
    flow = Workflow("blocks", input=JsonObject)
    over = threading.Event()

    @flow.compute(timeout=seconds(0.1))
    def block(ctx: Context[JsonObject]) -> None:
        over.wait()

    flow.entry(block)
    try:
        assert testing.run(flow, {}).status == "timed_out"
    finally:
        over.set()


def test_no_lease_runs_out_in_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that sleeps for a minute while an effect happens leaves the run to whoever carries it."""
    flow = Workflow("slept", input=JsonObject)
    monotonic, slept = time.monotonic, 0.0

    @flow.action
    def act(ctx: Context[JsonObject]) -> str:
        raise AssertionError

    def sleep(ctx: Context[JsonObject]) -> str:
        nonlocal slept
        slept = 60.0
        return "done"

    flow.entry(act)
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + slept)
    outcome = testing.run(flow, {}, effects={act: sleep})
    assert (outcome.status, outcome.output) == ("completed", "done"), outcome


def _stand_still(monkeypatch: pytest.MonkeyPatch, long: float) -> Callable[[], Coroutine[Any, Any, str]]:
    """Have the machine stand still in the first wait of a loop; what is answered arrives in the second."""
    answers: list[Callable[[], object]] = []
    waits = itertools.count(1)
    select = selectors.DefaultSelector.select

    def selecting(self: selectors.DefaultSelector, timeout: float | None = None) -> Any:
        if timeout == 0 or not answers:
            return select(self, timeout)
        if next(waits) == 1:
            time.sleep(long)
            return []
        answers.pop()()
        return select(self, timeout)

    async def answered() -> str:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()
        answers.append(lambda: loop.call_soon_threadsafe(answer.set_result, "answered"))
        return await answer

    monkeypatch.setattr(selectors.DefaultSelector, "select", selecting)
    return answered
