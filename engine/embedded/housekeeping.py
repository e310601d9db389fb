"""What a holder does in the background, when the runs have had their start: views, and scrubs that are still open."""

import logging
import threading
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


class Housekeeping:
    """One thread that begins late, and ends when nothing is left to do.

    Args:
        log: The log, held by this process.
        scrub: Removes the bytes of what was erased; answers how many erasures stay open.
    """

    def __init__(self, log: EventLog, scrub: Callable[[], int]) -> None:
        self._log = log
        self._scrub = scrub
        self._stopped = threading.Event()
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
        return not self._thread.is_alive()

    def start(self) -> None:
        """Begin to wait."""
        self._thread.start()

    def close(self) -> None:
        """End it, and the views with it."""
        self._stopped.set()
        self._thread.join()
        if self._follower is not None:
            self._follower.close()

    def _work(self) -> None:
        if self._stopped.wait(DELAY):
            return
        try:
            self.follower  # noqa: B018 - asking for it begins it
            while self._scrub() and not self._stopped.wait(AGAIN):
                pass
        except StoreError as error:
            _log.warning("housekeeping stopped: %s", error.code)
