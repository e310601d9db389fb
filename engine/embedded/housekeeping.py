"""What a holder does in the background, when the runs have had their start: views, erasures by age, and scrubs."""

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from runwright.eventstore.errors import StoreError
from runwright.eventstore.log import EventLog

if TYPE_CHECKING:
    from runwright.projections.follower import Follower

_log = logging.getLogger("runwright.engine")

#: Seconds before anything here begins: views may lag, and a reopened program's runs may not wait for them.
DELAY = 1.0

#: Seconds before an erasure whose bytes could not be removed yet is tried again.
AGAIN = 60.0

#: Seconds between an erasure and the look that removes its bytes: several of them share it.
SOON = 1.0

#: Seconds before what has grown old is looked for, and between two such looks. A clock that is wrong when a machine
#: starts is usually put right by then.
FIRST, EVERY = 60.0, 3600.0


class Housekeeping:
    """One thread that begins late, and then sleeps until something was erased.

    Args:
        log: The log, held by this process.
        scrub: Removes the bytes of what was erased; answers how many erasures stay open.
        sweep: Erases what has grown old, until what it is handed says that it has to stop; ``None`` where nothing does.
        clock: Seconds that only go forward.
    """

    def __init__(
        self,
        log: EventLog,
        scrub: Callable[[], int],
        sweep: Callable[[Callable[[], bool]], object] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log = log
        self._scrub = scrub
        self._sweep = sweep
        self._clock = clock
        self._due = clock() + FIRST
        self._stopped = threading.Event()
        self._wanted = threading.Event()
        self._resting = False
        self._lock = threading.Lock()
        self._follower: Follower | None = None
        self._thread = threading.Thread(target=self._work, name="runwright-housekeeping", daemon=True)

    @property
    def follower(self) -> "Follower":
        """What keeps the views; it begins when it is first asked for, or by itself a little later."""
        # Imported here: a program that has just been restarted drives its runs first.
        from runwright.projections.follower import Follower

        with self._lock:
            if self._follower is None:
                self._follower = Follower(self._log)
                self._follower.start()
            return self._follower

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do."""
        return not self._thread.is_alive() or (self._resting and not self._wanted.is_set())

    def start(self) -> None:
        """Begin to wait."""
        self._log.when_erased(self._wanted.set)
        self._thread.start()

    def close(self) -> None:
        """End it, and the views with it."""
        self._stopped.set()
        self._wanted.set()
        self._thread.join()
        if self._follower is not None:
            self._follower.close()

    def _work(self) -> None:
        if self._stopped.wait(DELAY):
            return
        try:
            self.follower  # noqa: B018 - asking for it begins it
        except (StoreError, OSError) as error:
            _log.warning("the views are not followed: %s", getattr(error, "code", type(error).__name__))
        while not self._stopped.is_set():
            self._wanted.clear()
            done = self._look()
            self._resting = done
            self._wanted.wait(self._patience(done))
            self._resting = False
            self._stopped.wait(SOON)

    def _look(self) -> bool:
        """Erase what has grown old, and remove the bytes of what was erased; answers whether nothing is left."""
        try:
            if self._sweep is not None and self._clock() >= self._due:
                self._due = self._clock() + EVERY
                self._sweep(self._stopped.is_set)
            return not self._scrub()
        except StoreError as error:
            _log.warning("what is to be erased could not be yet: %s", error.code)
            return self._log.failed is not None

    def _patience(self, done: bool) -> float | None:
        """Seconds until the next look, unless something is erased before."""
        waits = [] if done else [AGAIN]
        if self._sweep is not None:
            waits.append(max(0.0, self._due - self._clock()))
        return min(waits, default=None)
