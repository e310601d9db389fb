"""When a process ended: learnt in a thread, because a loop that is held up learns of it late."""

import asyncio
import contextlib
import math
import os
import threading
from typing import Final

#: Whether this system lets somebody wait for a child without reaping it.
_WAITS: Final = hasattr(os, "waitid")


class Watched:
    """The end of one child of this process, to be judged by when it was and not by when the loop heard of it.

    Args:
        pid: The child, which somebody else reaps.
        exited: Settled when the loop has heard of the end; where the system knows no better, that is when it was.

    Attributes:
        told: Settled once the time of the end is known.
    """

    def __init__(self, pid: int, exited: "asyncio.Future[None]") -> None:
        self._loop = asyncio.get_running_loop()
        self._ended_at = math.inf
        self.told: asyncio.Future[None] = self._loop.create_future()
        if _WAITS:
            threading.Thread(target=self._wait, args=(pid,), name=f"watches {pid}", daemon=True).start()
        else:
            exited.add_done_callback(self._heard)

    def ended_by(self, time: float) -> bool:
        """Whether the child had ended by a time of the loop's."""
        return self._ended_at <= time

    def _wait(self, pid: int) -> None:
        """Wait for the end and note when it was; in the thread."""
        with contextlib.suppress(ChildProcessError):  # the loop was quicker to reap it, so it ended just now
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        self._ended_at = self._loop.time()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._tell)

    def _heard(self, _: object) -> None:
        self._ended_at = self._loop.time()
        self._tell()

    def _tell(self) -> None:
        if not self.told.done():
            self.told.set_result(None)
