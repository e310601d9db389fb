"""From the log's writer thread to the event loop: many committed answers, one wake-up."""

import asyncio
from collections import deque
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class LoopBridge:
    """Turns the futures that the writer thread resolves into futures of one event loop.

    A commit answers many units at once. `asyncio.wrap_future` would write to the loop's wake-up pipe for each of
    them; this collects what arrived and wakes the loop once.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._arrived: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._woken = False

    def wrap(self, answer: Future[T]) -> asyncio.Future[T]:
        """Answer a future of the loop; giving it up does not take back what was submitted."""
        waiter: asyncio.Future[T] = self._loop.create_future()
        answer.add_done_callback(partial(self._arrive, waiter))
        return waiter

    def _arrive(self, waiter: asyncio.Future[Any], answer: Future[Any]) -> None:
        self._arrived.append((waiter, answer))
        # The flag is lowered before the queue is emptied, so whoever appends after that wakes the loop again.
        if not self._woken:
            self._woken = True
            try:
                self._loop.call_soon_threadsafe(self._hand_over)
            except RuntimeError:
                # The loop is closed: nobody is left to hear the answer, and what was committed stays committed.
                self._arrived.clear()

    def _hand_over(self) -> None:
        self._woken = False
        while self._arrived:
            waiter, answer = self._arrived.popleft()
            if waiter.done():
                continue
            if answer.cancelled():
                waiter.cancel()
            elif (error := answer.exception()) is not None:
                waiter.set_exception(error)
            else:
                waiter.set_result(answer.result())
