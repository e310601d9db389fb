"""From other threads to an event loop: many arrivals, one wake-up."""

import asyncio
from collections import deque
from collections.abc import Callable
from weakref import WeakKeyDictionary


class Arrivals:
    """What other threads want done on one loop.

    `asyncio.AbstractEventLoop.call_soon_threadsafe` writes to the loop's wake-up pipe for each call, and each such
    write hands the interpreter to another thread. This collects what arrives and wakes the loop once.

    Attributes:
        awaited: How much of what was handed to other threads has not arrived yet; counted on the loop. A loop on a
            virtual clock lets no time pass while there is any.
        prompt: Whether what may wait for the next commit goes out by itself when something takes long. Not on a
            virtual clock: there a run's commits follow from the run alone, and not from how quick its threads are.
    """

    def __init__(self) -> None:
        self._arrived: deque[Callable[[], None]] = deque()
        self._woken = False
        self.awaited = 0
        self.prompt = True

    def add(self, loop: asyncio.AbstractEventLoop, do: Callable[[], None]) -> None:
        """Have something done on the loop soon; from any thread. A loop that is closed does nothing any more."""
        self._arrived.append(do)
        # The flag is lowered before the queue is emptied, so whoever appends after that wakes the loop again.
        if not self._woken:
            self._woken = True
            try:
                loop.call_soon_threadsafe(self._hand_over)
            except RuntimeError:
                self._arrived.clear()

    def _hand_over(self) -> None:
        self._woken = False
        while self._arrived:
            self._arrived.popleft()()


_of_loops: "WeakKeyDictionary[asyncio.AbstractEventLoop, Arrivals]" = WeakKeyDictionary()


def arrive_by(loop: asyncio.AbstractEventLoop, arrivals: Arrivals) -> None:
    """Give a loop arrivals of its own kind, before anything arrives there."""
    _of_loops[loop] = arrivals


def arrivals_of(loop: asyncio.AbstractEventLoop) -> Arrivals:
    """Answer the one place where everything arrives for a loop; called on that loop."""
    found = _of_loops.get(loop)
    if found is None:
        found = _of_loops[loop] = Arrivals()
    return found
