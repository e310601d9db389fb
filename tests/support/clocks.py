"""A clock whose wall hand a test may move, while the monotonic one goes on as it does."""

import time


class JumpingClock:
    """The machine's clocks, the wall clock with an offset.

    Attributes:
        offset: Seconds that the wall clock is off.
    """

    def __init__(self) -> None:
        self.offset = 0.0

    def now(self) -> int:
        """UTC in microseconds."""
        return time.time_ns() // 1000 + round(self.offset * 1_000_000)

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""
        return time.monotonic()
