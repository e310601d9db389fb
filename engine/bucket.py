"""A bound on how often something happens: so many at once, and so many a second for long."""

from collections.abc import Callable


class Bucket:
    """Holds what may still happen, and fills up again with time.

    Args:
        at_once: How many at once.
        a_second: How many a second.
        monotonic: The clock.
    """

    def __init__(self, at_once: float, a_second: float, monotonic: Callable[[], float]) -> None:
        self._most = self._left = at_once
        self._rate = a_second
        self._monotonic = monotonic
        self._at = monotonic()

    def take(self) -> bool:
        """Count one, where it is within the bound; whether it is."""
        self._fill()
        if self._left < 1:
            return False
        self._left -= 1
        return True

    @property
    def delay(self) -> float:
        """Seconds until the next one is within the bound."""
        self._fill()
        return max(0.0, (1 - self._left) / self._rate)

    def _fill(self) -> None:
        now = self._monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
