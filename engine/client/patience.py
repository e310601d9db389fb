"""How long something that was lost is tried again."""

import time
from pathlib import Path
from typing import Final

from runwright.engine.protocol.envelopes import Reply
from runwright.engine.protocol.errors import HostUnavailable

_FIRST: Final = 0.02
_LONGEST: Final = 0.5
#: What a host says while it stops, recovers, or has too much to do: the same call can succeed in a moment.
_PASSING: Final = frozenset({"store_closed", "store_unavailable", "store_busy", "host_busy"})


def is_passing(reply: Reply) -> bool:
    """Whether a call that was refused may be carried out in a moment."""
    return reply.outcome == "unavailable" and reply.error is not None and reply.error.code in _PASSING


class Patience:
    """Waits between tries, longer each time, until it has run out.

    Args:
        home: The state directory whose host is looked for.
        seconds: How long in all.
    """

    def __init__(self, home: Path, seconds: float) -> None:
        self._home = home
        self._until = time.monotonic() + seconds
        self._delay = _FIRST

    @property
    def left(self) -> bool:
        """Whether there is time for another try."""
        return time.monotonic() + self._delay < self._until

    def delay(self, why: str) -> float:
        """The seconds to wait before the next try.

        Raises:
            HostUnavailable: It has run out.
        """
        if not self.left:
            raise HostUnavailable(self._home, why)
        delay, self._delay = self._delay, min(2 * self._delay, _LONGEST)
        return delay

    def sleep(self, why: str) -> None:
        """Wait before the next try; raises as `delay`."""
        time.sleep(self.delay(why))
