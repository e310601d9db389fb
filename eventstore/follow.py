"""Following the log: past events, then new ones as they commit, without losing any and without hoarding them."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.errors import StoreClosed

#: Between two looks at a store that another process writes (seconds).
POLL = 0.25


class News(Protocol):
    """Something that tells of commits."""

    def wait(self, beyond: int, /, timeout: float | None, given_up: Callable[[], bool]) -> bool:
        """Wait until there may be events after a position; false when there will be none, or time is up."""

    def wake(self) -> None:
        """Have every waiter look again whether it was given up."""


class Signal:
    """Commits of this process, told by its writer: nobody polls."""

    def __init__(self) -> None:
        self._position = 0
        self._closed = False
        self._changed = threading.Condition()

    def advance(self, position: int) -> None:
        """Tell that everything up to a position is committed."""
        with self._changed:
            self._position = position
            self._changed.notify_all()

    def close(self) -> None:
        """Tell that nothing follows any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wake(self) -> None:
        """Have every waiter look again whether it was given up."""
        with self._changed:
            self._changed.notify_all()

    def wait(self, beyond: int, /, timeout: float | None, given_up: Callable[[], bool]) -> bool:
        """Wait until something after a position is committed; false when nothing will be, or time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._position > beyond or self._closed or given_up(), timeout)
            return self._position > beyond and not self._closed and not given_up()


class Watch:
    """Commits of another process, seen by looking four times a second.

    Args:
        version: Answers a number that changes with every commit of others.
    """

    def __init__(self, version: Callable[[], int]) -> None:
        self._version = version
        self._seen: int | None = None
        self._woken = threading.Event()

    def wake(self) -> None:
        """Have the waiter look again whether it was given up."""
        self._woken.set()

    def wait(self, _beyond: int, /, timeout: float | None, given_up: Callable[[], bool]) -> bool:
        """Wait until somebody committed since the last wait; false when time is up."""
        until = None if timeout is None else time.monotonic() + timeout
        while not given_up():
            version = self._version()
            if version != self._seen:
                self._seen = version
                return True
            left = POLL if until is None else min(POLL, until - time.monotonic())
            if left <= 0:
                return False
            self._woken.wait(left)
        return False


class Subscription:
    """Events after a position, in order, each exactly once; an iterator that waits.

    It keeps one batch at most: who is slow reads the rest from the table later.

    Args:
        after: The position after which to begin.
        batches: Answers the stored events after a position, in batches.
        news: Tells of commits.
        end: Called once, when the subscription is closed.
    """

    def __init__(
        self,
        after: int,
        batches: Callable[[int], Iterator[list[RecordedEvent]]],
        news: News,
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self._position = after
        self._batches = batches
        self._news = news
        self._end = end
        self._ready: list[RecordedEvent] = []
        self._closed = False
        #: Held by whoever looks into the store: what it is read with must not be ended meanwhile.
        self._looking = threading.RLock()

    @property
    def position(self) -> int:
        """The position of the last event that was handed out."""
        return self._position

    def next(self, timeout: float | None = None) -> RecordedEvent | None:
        """Answer the next event.

        Args:
            timeout: How many seconds to wait; ``None`` until there is one.

        Returns:
            The event, or ``None`` when time was up or either side was closed.
        """
        until = None if timeout is None else time.monotonic() + timeout
        with self._looking:
            while not self._closed:
                if not self._ready:
                    try:
                        self._ready = next(self._batches(self._position), [])
                    except StoreClosed:
                        return None  # it was closed just as this looked
                    self._ready.reverse()
                if self._ready:
                    event = self._ready.pop()
                    self._position = event.position
                    return event
                left = None if until is None else max(0.0, until - time.monotonic())
                if not self._news.wait(self._position, left, lambda: self._closed):
                    return None
            return None

    def __iter__(self) -> "Subscription":
        return self

    def __next__(self) -> RecordedEvent:
        event = self.next()
        if event is None:
            raise StopIteration
        return event

    def close(self) -> None:
        """End it; a thread that waits in it returns."""
        if not self._closed:
            self._closed = True
            self._news.wake()
            with self._looking:
                self._end()

    def __enter__(self) -> "Subscription":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
