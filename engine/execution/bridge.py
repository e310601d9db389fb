"""From the log's writer thread to the event loop: futures that resolve there."""

import asyncio
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from runwright.engine.arrivals import Arrivals, arrivals_of

T = TypeVar("T")


class LoopBridge:
    """Turns the futures that the writer thread resolves into futures of one event loop.

    A commit answers many units at once, and all of them arrive with one wake-up of the loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._arrivals = arrivals_of(loop)

    def wrap(self, answer: Future[T]) -> asyncio.Future[T]:
        """Answer a future of the loop; giving it up does not take back what was submitted."""
        waiter: asyncio.Future[T] = self._loop.create_future()
        self._arrivals.awaited += 1
        answer.add_done_callback(partial(self._arrive, waiter))
        return waiter

    def _arrive(self, waiter: asyncio.Future[Any], answer: Future[Any]) -> None:
        # Where the loop is closed nobody is left to hear the answer; what was committed stays committed.
        self._arrivals.add(self._loop, partial(_hand_over, self._arrivals, waiter, answer))


def _hand_over(arrivals: Arrivals, waiter: asyncio.Future[Any], answer: Future[Any]) -> None:
    arrivals.awaited -= 1
    if waiter.done():
        return
    if answer.cancelled():
        waiter.cancel()
    elif (error := answer.exception()) is not None:
        waiter.set_exception(error)
    else:
        waiter.set_result(answer.result())
