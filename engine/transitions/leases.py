"""Leases: how long each claim lasts, in the holder's memory and on the clock that never jumps (page 05, "Claims")."""

import threading
from collections.abc import Callable
from typing import Final

#: Seconds that a lease lasts without a protected write or a renewal.
LEASE: Final = 30.0


class Leases:
    """The leases of the claims that this process has granted.

    A lease says only for how long; to whom stands in the claim's row. A unit of work may therefore grant or renew
    one before it is committed: without its row a lease is worth nothing. A claim of an earlier holder has none
    here, so it is void for writes at once.

    A holder with workers of their own beats while it has any. A silence of its own longer than half a lease means that
    it stood still itself (a stopped process): whoever it could not hear in that time is not held to it.
    """

    def __init__(self, monotonic: Callable[[], float], *, seconds: float = LEASE) -> None:
        self._monotonic = monotonic
        self._seconds = seconds
        #: Generation and end by run, the one renewed longest ago first.
        self._held: dict[str, tuple[int, float]] = {}
        #: When the holder was known to be awake; ``None`` while it does not beat.
        self._awake: float | None = None
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """How long a lease lasts without a word."""
        return self._seconds

    def beat(self) -> None:
        """Say that the holder is awake; until it rests, the next beat is due before half a lease is over."""
        with self._lock:
            self._awake = self._now()

    def rest(self) -> None:
        """Beat no more: there is nobody to listen to."""
        with self._lock:
            self._awake = None

    def grant(self, run_id: str, generation: int) -> None:
        """Begin the lease of a new claim, and forget those that ended."""
        with self._lock:
            now = self._now()
            for other, (_, until) in list(self._held.items()):
                if until > now:
                    break
                del self._held[other]
            self._held.pop(run_id, None)
            self._held[run_id] = (generation, now + self._seconds)

    def holds(self, run_id: str, generation: int) -> bool:
        """Whether the lease of that generation has not ended."""
        with self._lock:
            now, lease = self._now(), self._held.get(run_id)
            return lease is not None and lease[0] == generation and lease[1] > now

    def left(self, run_id: str, generation: int) -> float:
        """Seconds until that lease ends; zero or less where it has, or where there is none."""
        with self._lock:
            now, lease = self._now(), self._held.get(run_id)
            return 0.0 if lease is None or lease[0] != generation else lease[1] - now

    def renew(self, run_id: str, generation: int) -> None:
        """Renew a lease that holds; whoever calls has checked the claim."""
        with self._lock:
            now, lease = self._now(), self._held.pop(run_id, None)
            if lease is not None and lease[0] == generation:
                self._held[run_id] = (generation, now + self._seconds)

    def _now(self) -> float:
        """The time; where the holder has just stood still, after leaving that out of every lease that held before."""
        now = self._monotonic()
        if self._awake is not None:
            still = now - self._awake
            if still > self._seconds / 2:
                held = self._held.items()
                self._held = {
                    run_id: (generation, until + still if until > self._awake else until)
                    for run_id, (generation, until) in held
                }
                self._awake = now
        return now
