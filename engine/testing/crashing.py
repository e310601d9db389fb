"""A log that stops taking anything at a chosen commit, as if its process had been killed there."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import ClassVar, Literal, TypeVar

from attrs import frozen

from runwright.eventstore.errors import StoreError
from runwright.eventstore.home import Home
from runwright.eventstore.lock import StoreLock
from runwright.eventstore.log import EventLog
from runwright.eventstore.transaction import Tx

T = TypeVar("T")
Side = Literal["before", "after"]


@frozen
class Boundary:
    """A side of a commit.

    Attributes:
        number: The how-many-th commit of the run, from 1.
        side: ``before``: it never happened; ``after``: it happened, and nobody heard of it.
    """

    number: int
    side: Side

    def __str__(self) -> str:
        return f"{self.side} commit {self.number}"


class Crashed(StoreError):
    """The process that held this store is gone."""

    code: ClassVar[str] = "store_unavailable"

    def __init__(self) -> None:
        super().__init__("The process crashed here, because a test wants it to.", "Open the store again.")


class CrashingLog(EventLog):
    """An event log whose process dies at a boundary of a commit."""

    def __init__(self, home: Home, lock: StoreLock) -> None:
        super().__init__(home, lock)
        self._boundary: Boundary | None = None
        self._tell: Callable[[], None] | None = None
        self._thread: int | None = None
        #: Commits that the loop asked for since the log was armed.
        self.commits = 0
        self.crashed = False

    def arm(self, boundary: Boundary | None, tell: Callable[[], None]) -> None:
        """Count the commits that the calling thread asks for from now on, and crash at one of them.

        Args:
            boundary: Where; ``None`` for nowhere.
            tell: Called on the loop of the calling thread once it has crashed.
        """
        self._boundary = boundary
        self._tell = tell
        self._thread = threading.get_ident()

    def transact(self, unit: Callable[[Tx], T], *, urgent: bool = False) -> "Future[T]":
        """Have a unit of work committed, unless the process is gone."""
        if self.crashed:
            return _gone()
        if self._thread != threading.get_ident():
            return super().transact(unit, urgent=urgent)
        self.commits += 1
        boundary = self._boundary
        if boundary is None or boundary.number != self.commits:
            return _made(super().transact(unit, urgent=urgent))
        if boundary.side == "after":
            _made(super().transact(unit, urgent=urgent))
        self.crashed = True
        if self._tell is not None:
            asyncio.get_running_loop().call_soon(self._tell)
        return _gone()


def _made(answer: "Future[T]") -> "Future[T]":
    """Wait for a commit here and now: what the loop does next never depends on how long it took."""
    answer.exception()
    return answer


def _gone() -> "Future[T]":
    answer: Future[T] = Future()
    answer.set_exception(Crashed())
    return answer
