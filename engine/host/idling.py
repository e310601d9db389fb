"""Ending a host that nobody needs, or whose store is gone: one look in each period, no polling."""

import asyncio
from collections.abc import Callable


class Idling:
    """Calls once nothing has happened for a while and nothing is unsettled, or there is nothing to be host of.

    Args:
        after: Seconds.
        gone: Whether the store is gone.
        moved: Answers what changes with everything that happens.
        busy: Whether something is unsettled, or somebody is there.
        leave: What is called, once.
    """

    def __init__(
        self,
        after: float,
        *,
        gone: Callable[[], bool],
        moved: Callable[[], object],
        busy: Callable[[], bool],
        leave: Callable[[], object],
    ) -> None:
        self._after = after
        self._gone = gone
        self._moved = moved
        self._busy = busy
        self._leave = leave
        self._seen = moved()
        self._loop = asyncio.get_running_loop()
        self._handle = self._loop.call_later(after, self._look)

    def close(self) -> None:
        """Look no more."""
        self._handle.cancel()

    def _look(self) -> None:
        seen = self._moved()
        if self._gone() or (seen == self._seen and not self._busy()):
            self._leave()
            return
        self._seen = seen
        self._handle = self._loop.call_later(self._after, self._look)
