"""The follower: a thread that lets the views follow the log while a process holds the store."""

import threading
from typing import Final

from runwright.eventstore.errors import StoreError
from runwright.eventstore.follow import Subscription
from runwright.eventstore.log import EventLog
from runwright.projections.errors import ProjectionError
from runwright.projections.views.registry import VIEWS, users_views
from runwright.projections.views.store import Views

#: Between two looks while events keep coming (seconds): views may lag, runs may not.
PAUSE: Final = 1.0

#: How long an end waits for a program's view that does not return (seconds); its thread ends with the process then.
PATIENCE: Final = 5.0


class Follower:
    """Keeps the views near the end of the log, in a thread of its own.

    It waits for commits without polling, and gathers those of a moment into one step. A trouble with the views'
    file is remembered in `trouble` and tried again with the next commit; nobody's run depends on it.

    Args:
        log: The log, held by this process.
        pause: Between two steps while events keep coming (seconds).
        patience: How long `close` waits for a view that does not return (seconds).
    """

    def __init__(self, log: EventLog, *, pause: float = PAUSE, patience: float = PATIENCE) -> None:
        self.trouble: StoreError | None = None
        self._log = log
        self._pause = pause
        self._patience = patience
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._waiting: Subscription | None = None
        users, self._unusable = users_views()
        self._views = Views(log.home, log, (*VIEWS, *users), stopped=self._stopped.is_set)
        self._thread = threading.Thread(target=self._run, name="runwright-views", daemon=True)

    @property
    def failures(self) -> tuple[ProjectionError, ...]:
        """Every view that does not follow, and why."""
        return (*self._unusable, *self._views.failures)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def catch_up(self) -> int:
        """Follow to the present end at once; answer how far every view that works has come."""
        with self._lock:
            return self._views.catch_up()

    def rebuild(self, *names: str) -> int:
        """Fill views anew; answer how far they came.

        Raises:
            ViewFailed: One of them cannot follow; the others were filled.
        """
        with self._lock:
            reached = self._views.rebuild(names)
            for failure in self._views.failures:
                if failure.projection in names:
                    raise failure
            return reached

    def close(self) -> None:
        """Stop following and close the file; what a program's view is still about is waited for only so long."""
        self._stopped.set()
        waiting = self._waiting
        if waiting is not None:
            waiting.close()
        if self._thread.is_alive():
            self._thread.join(self._patience)
        if self._lock.acquire(timeout=self._patience if not self._thread.is_alive() else 0):
            try:
                self._views.close()
            finally:
                self._lock.release()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                reached = self.catch_up()
                self.trouble = None
            except StoreError as error:
                if self._stopped.is_set():
                    return  # whoever closed this may have closed the log since
                self.trouble = error
                reached = self._log.head().position
            self._waiting = self._log.subscribe(reached)
            if self._stopped.is_set() or self._waiting.next() is None:
                return
            self._stopped.wait(self._pause)
