"""Hearing of commits on the loop: one thread waits for them while anybody follows, and none does otherwise."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from runwright.eventstore.errors import StoreError
from runwright.eventstore.log import EventLog


class Commits:
    """Tells coroutines of one loop that the log has grown.

    Args:
        log: The log, held by this process.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._followers = 0
        self._changed = asyncio.Event()
        self._position = 0
        self._ear: _Ear | None = None

    @asynccontextmanager
    async def followed(self) -> AsyncIterator[None]:
        """Hear of commits for as long as the block lasts."""
        self._followers += 1
        if self._ear is None:
            loop, position = asyncio.get_running_loop(), self._log.head().position
            self._ear = _Ear(self._log, position, lambda told: loop.call_soon_threadsafe(self._tell, told))
        try:
            yield
        finally:
            self._followers -= 1
            if not self._followers:
                ear, self._ear = self._ear, None
                ear.end()

    async def beyond(self, position: int) -> None:
        """Wait until something after a position is committed."""
        self._position = max(self._position, self._log.head().position)
        while self._position <= position:
            changed = self._changed
            await changed.wait()

    def _tell(self, position: int) -> None:
        self._position = max(self._position, position)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class _Ear(threading.Thread):
    """Waits for commits; however many come before the loop has heard, it is told once.

    Args:
        log: The log.
        after: The position beyond which it tells. A thread begins when it gets its turn: what is committed until then
            is told as well, or whoever had looked in between would wait for the commit after it.
        tell: Told each new position.
    """

    def __init__(self, log: EventLog, after: int, tell: Callable[[int], object]) -> None:
        super().__init__(name="runwright-commits", daemon=True)
        self._log = log
        self._after = after
        self._news = log.news
        self._tell = tell
        self._over = False
        self.start()

    def run(self) -> None:
        """Tell of each commit, until it is over or the log is closed."""
        try:
            position = self._after
            while self._news.wait(position, None, lambda: self._over):
                position = self._log.head().position
                self._tell(position)
        except (StoreError, RuntimeError):
            # The store was closed, or the loop: nobody is left to be told.
            return

    def end(self) -> None:
        """Stop waiting."""
        self._over = True
        self._news.wake()
