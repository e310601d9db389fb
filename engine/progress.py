"""How much progress may be reported: how large, how often, of how much (fine print, "Limits of ctx.update")."""

from collections.abc import Callable
from typing import Final

from runwright.engine.bucket import Bucket

#: Updates of a run at once, and a second for long.
BURST: Final = 100
A_SECOND: Final = 20
#: Names that a run reports progress under.
MOST_NAMES: Final = 1_024
#: Bytes of one update, encoded.
MAX_UPDATE: Final = 64 * 1_024


class Allowance:
    """What one run may report: a launch of it counts what its nodes say, the holder what is told to its requests.

    Args:
        monotonic: The clock.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._bucket = Bucket(BURST, A_SECOND, monotonic)
        self._names: set[str] = set()

    def admits(self, name: str) -> bool:
        """Whether something may be reported under a name."""
        return name in self._names or len(self._names) < MOST_NAMES

    def remember(self, name: str) -> None:
        """Count a name that something is reported under."""
        self._names.add(name)

    def take(self) -> bool:
        """Count an update; one that comes too early is not counted, and may not be written."""
        return self._bucket.take()

    @property
    def delay(self) -> float:
        """Seconds until the next update may be written."""
        return self._bucket.delay
