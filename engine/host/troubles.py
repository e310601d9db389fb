"""What went wrong lately, by code and time, for whoever asks how the host stands."""

from collections import deque
from collections.abc import Callable
from typing import Final

#: How many are remembered.
MOST: Final = 20


class Troubles:
    """The last codes and when they came (UTC microseconds), the newest first; no more is kept of them.

    Args:
        now: The clock.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._seen: deque[tuple[str, int]] = deque(maxlen=MOST)

    def note(self, code: str) -> None:
        """Remember a code."""
        self._seen.appendleft((code, self._now()))

    def seen(self) -> tuple[tuple[str, int], ...]:
        """All that are remembered."""
        return tuple(self._seen)
