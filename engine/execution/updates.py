"""Progress updates on their way to the log: bounded in rate, size and number; the newest of a key wins."""

import threading
from collections.abc import Callable

from attrs import frozen

from runwright.engine.commands.worker import UpdateNode
from runwright.engine.progress import MAX_UPDATE, Allowance
from runwright.eventstore.errors import StoreError
from runwright.eventstore.values import Json, encode


@frozen
class _Slot:
    path: str
    visit: int
    attempt: int
    key: str


class UpdateBuffer:
    """Holds updates until they may be written; safe to call from any thread."""

    def __init__(self, monotonic: Callable[[], float], wake: Callable[[], None]) -> None:
        self._allowance = Allowance(monotonic)
        self._wake = wake
        self._waiting: dict[_Slot, Json] = {}
        self._over: set[tuple[str, int, int]] = set()
        self._lock = threading.Lock()
        #: Updates that were over a limit and were left out.
        self.refused = 0

    def put(self, path: str, visit: int, attempt: int, key: str, update: Json) -> None:
        """Take an update; one over a limit is counted and left out, because progress must never fail a node."""
        with self._lock:
            if (path, visit, attempt) in self._over:
                return
            if not self._fits(key, update):
                self.refused += 1
                return
            self._allowance.remember(key)
            slot = _Slot(path, visit, attempt, key)
            # The newest goes to the end, so that keys are written in the order of their last news.
            self._waiting.pop(slot, None)
            self._waiting[slot] = update
            first = len(self._waiting) == 1
        if first:
            self._wake()

    def end(self, path: str, visit: int, attempt: int) -> None:
        """Learn that an attempt is over: what comes for it now, from a function that outlived it, is dropped."""
        with self._lock:
            self._over.add((path, visit, attempt))
            for slot in list(self._waiting):
                if (slot.path, slot.visit, slot.attempt) in self._over:
                    del self._waiting[slot]

    def take(self, path: str | None, visit: int, attempt: int) -> list[UpdateNode]:
        """Take what may be written now for the open attempt; one that is about to start keeps its own."""
        with self._lock:
            taken: list[UpdateNode] = []
            for slot in list(self._waiting):
                if (slot.path, slot.visit, slot.attempt) == (path, visit, attempt) and self._allowance.take():
                    taken.append(
                        UpdateNode(
                            path=slot.path,
                            visit=slot.visit,
                            attempt=slot.attempt,
                            key=slot.key,
                            update=self._waiting.pop(slot),
                        )
                    )
            return taken

    @property
    def delay(self) -> float | None:
        """Seconds until the next update may be written; ``None`` where none waits."""
        with self._lock:
            return self._allowance.delay if self._waiting else None

    def _fits(self, key: str, update: Json) -> bool:
        if not self._allowance.admits(key):
            return False
        try:
            return len(encode(update).encode()) <= MAX_UPDATE
        except StoreError:
            return False
