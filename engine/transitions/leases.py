"""Leases: how long each claim lasts, in the holder's memory and on the clock that never jumps (page 05, "Claims")."""

from collections.abc import Callable
from typing import Final

#: Seconds that a lease lasts without a protected write or a renewal.
LEASE: Final = 30.0


class Leases:
    """The leases of the claims that this process has granted.

    A lease says only for how long; to whom stands in the claim's row. A unit of work may therefore grant or renew
    one before it is committed: without its row a lease is worth nothing. A claim of an earlier holder has none
    here, so it is void for writes at once.
    """

    def __init__(self, monotonic: Callable[[], float], *, seconds: float = LEASE) -> None:
        self._monotonic = monotonic
        self._seconds = seconds
        #: Generation and end by run, the one renewed longest ago first.
        self._held: dict[str, tuple[int, float]] = {}

    def grant(self, run_id: str, generation: int) -> None:
        """Begin the lease of a new claim, and forget those that ended."""
        now = self._monotonic()
        for other, (_, until) in list(self._held.items()):
            if until > now:
                break
            del self._held[other]
        self._held.pop(run_id, None)
        self._held[run_id] = (generation, now + self._seconds)

    def holds(self, run_id: str, generation: int) -> bool:
        """Whether the lease of that generation has not ended."""
        lease = self._held.get(run_id)
        return lease is not None and lease[0] == generation and lease[1] > self._monotonic()

    def renew(self, run_id: str, generation: int) -> None:
        """Renew a lease that holds; whoever calls has checked the claim."""
        lease = self._held.pop(run_id, None)
        if lease is not None and lease[0] == generation:
            self._held[run_id] = (generation, self._monotonic() + self._seconds)

    def expired(self) -> list[str]:
        """Name the runs whose lease has ended and that nothing has claimed since."""
        now = self._monotonic()
        return [run_id for run_id, (_, until) in self._held.items() if until <= now]
