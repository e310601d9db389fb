"""Time, handed in: the wall clock for people and deadlines, the monotonic one for counting down."""

import time
from typing import Protocol


class Clock(Protocol):
    """What the engine asks of a clock."""

    def now(self) -> int:
        """UTC in microseconds."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> int:
        """UTC in microseconds."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""
        return time.monotonic()
