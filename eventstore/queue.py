"""Units of work on their way to the writer: bounded, urgent ones first, and answered through futures."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from runwright.eventstore.errors import NestedTransaction, StoreClosed, StoreError, StoreUnavailable
from runwright.eventstore.transaction import Tx

#: Units that may wait before callers do.
MOST_WAITING = 4096
#: How long a caller waits for room (seconds).
PATIENCE = 5.0


class Work:
    """One unit of work and the future that its caller holds."""

    __slots__ = ("error", "future", "result", "unit")

    def __init__(self, unit: Callable[[Tx], Any]) -> None:
        self.unit = unit
        self.future: Future[Any] = Future()
        # Running from the start, so that a waiter who is cancelled does not cancel the unit.
        self.future.set_running_or_notify_cancel()
        self.result: Any = None
        self.error: BaseException | None = None

    def answer(self) -> None:
        """Tell the caller how it went."""
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


class Chore:
    """Something to do on the writer's connection, outside a transaction, when nothing else waits."""

    __slots__ = ("do", "future")

    def __init__(self, do: Callable[[], Any]) -> None:
        self.do = do
        self.future: Future[Any] = Future()
        self.future.set_running_or_notify_cancel()


class Queue:
    """What waits for the writer.

    Args:
        bound: Units that may wait before callers do.
        patience: How long a caller waits for room (seconds).
    """

    def __init__(self, *, bound: int = MOST_WAITING, patience: float = PATIENCE) -> None:
        self.writer: int | None = None
        self._bound = bound
        self._patience = patience
        self._urgent: deque[Work] = deque()
        self._others: deque[Work] = deque()
        self._chores: deque[Chore] = deque()
        self._closed: StoreError | None = None
        self._lock = threading.Lock()
        self._filled = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)

    def put(self, work: Work, *, urgent: bool) -> None:
        """Hand in a unit, waiting for room.

        Raises:
            NestedTransaction: The caller is a unit itself.
            StoreUnavailable: There was no room for too long, or the writer gave up.
            StoreClosed: The store was closed.
        """
        self.refuse_nested()
        line = self._urgent if urgent else self._others
        with self._lock:
            if len(line) >= self._bound and not self._room.wait_for(
                lambda: len(line) < self._bound or self._closed is not None, self._patience
            ):
                raise StoreUnavailable("too many commands are waiting")
            self._refuse_closed()
            line.append(work)
            self._filled.notify()

    def put_chore(self, chore: Chore) -> None:
        """Hand in a chore; it waits until no unit does.

        Raises:
            NestedTransaction: The caller is a unit itself.
            StoreClosed: The store was closed.
        """
        self.refuse_nested()
        with self._lock:
            self._refuse_closed()
            self._chores.append(chore)
            self._filled.notify()

    def take(self, most: int) -> list[Work] | Chore | None:
        """Wait for something to do; ``None`` when closed and empty."""
        with self._lock:
            while not (self._urgent or self._others or self._chores):
                if self._closed is not None:
                    return None
                self._filled.wait()
            if not (self._urgent or self._others):
                return self._chores.popleft()
            taken: list[Work] = []
            for line in (self._urgent, self._others):
                while line and len(taken) < most:
                    taken.append(line.popleft())
            self._room.notify_all()
            return taken

    def put_back(self, works: list[Work]) -> None:
        """Return units that did not fit into a commit, before all others; they go first next time."""
        with self._lock:
            self._urgent.extendleft(reversed(works))

    def close(self, error: StoreError | None = None) -> list[Work | Chore]:
        """Take nothing more in.

        Args:
            error: What later callers hear; with one, what still waits is handed back to be answered.
        """
        with self._lock:
            self._closed = self._closed or error or StoreClosed()
            left: list[Work | Chore] = []
            if error is not None:
                left = [*self._urgent, *self._others, *self._chores]
                for line in (self._urgent, self._others, self._chores):
                    line.clear()
            self._filled.notify_all()
            self._room.notify_all()
            return left

    def refuse_nested(self) -> None:
        """Refuse a caller that runs on the writer's thread, where waiting would be for ever.

        Raises:
            NestedTransaction: It does.
        """
        if threading.get_ident() == self.writer:
            raise NestedTransaction

    def _refuse_closed(self) -> None:
        if self._closed is not None:
            raise self._closed
