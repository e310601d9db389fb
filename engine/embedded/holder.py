"""The open store: lock, log, transitions, epoch, and what its last holder left behind."""

import logging
import os
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from runwright import __version__
from runwright.engine.clock import Clock, SystemClock
from runwright.engine.embedded.housekeeping import Housekeeping
from runwright.engine.embedded.recovery import recover
from runwright.engine.embedded.redacting import Ages, redact_aged, scrub
from runwright.engine.embedded.renewal import LeaseRenewal
from runwright.engine.identity import new_id
from runwright.engine.processes import own_identity
from runwright.engine.reading.reader import Reader
from runwright.engine.transitions.store import Transitions
from runwright.eventstore.envelope import Head
from runwright.eventstore.errors import StoreError
from runwright.eventstore.home import Home, check_file, create_file
from runwright.eventstore.log import EventLog
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT

if TYPE_CHECKING:
    from runwright.projections.follower import Follower

_log = logging.getLogger("runwright.engine")

KEY_BYTES = 32


class Holder:
    """The one process that holds a store, between `open` and `close`.

    Attributes:
        home: The state directory.
        log: The log.
        transitions: The only way to change anything.
        reader: The questions that need no lock.
        clock: Time, handed in.
        random: Randomness, handed in.
        epoch: This holder's epoch.
        process: This process.
        renewal: Keeps the leases of what is driven here.
        unrecovered: Runs whose last worker's end could not be recorded; they show as they were.
    """

    def __init__(
        self,
        log: EventLog,
        *,
        clock: Clock,
        random: Callable[[int], bytes],
        receipts_key: bytes,
        redact_after: Ages | None = None,
    ) -> None:
        self.log = log
        self.home = log.home
        self.clock = clock
        self.random = random
        self.epoch = new_id(clock.now(), random)
        self.process = own_identity()
        self.transitions = Transitions(log, clock=clock, random=random, epoch=self.epoch, receipts_key=receipts_key)
        self.reader = Reader(log)
        self.renewal = LeaseRenewal(self.transitions.renew)
        self.unrecovered: frozenset[str] = frozenset()
        self._redact_after = redact_after
        sweep = None if redact_after is None else self._sweep
        self._housekeeping = Housekeeping(log, self._scrub, sweep, clock=clock.monotonic)
        self._closing = threading.Lock()
        self._closed = False
        self._old_host_gone = False
        self._head: Head | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        wait_lock: float | None = None,
        clock: Clock | None = None,
        random: Callable[[int], bytes] = os.urandom,
        unsafe_filesystem: bool = False,
        old_host_gone: bool = False,
        redact_after: Ages | None = None,
    ) -> "Holder":
        """Take the store, begin an epoch, and put away what the last holder left.

        Args:
            path: The state directory; it is made where there is none.
            wait_lock: Seconds to wait for another holder; ``None`` not at all.
            clock: The clocks.
            random: Answers that many random bytes.
            unsafe_filesystem: Whether to open it on a network file system, too.
            old_host_gone: Whether somebody vouches for it that nothing of an earlier holder lives in another container.
            redact_after: How old the runs of each project become before their private values are erased.

        Raises:
            StoreInUse: Another process holds it; and the other errors of `EventLog.open`.
        """
        clock = clock or SystemClock()
        log = EventLog.open(
            path,
            layout=LAYOUT,
            control=ControlRows(),
            clock=clock.now,
            random=random,
            wait_lock=wait_lock,
            unsafe_filesystem=unsafe_filesystem,
        )
        return cls.over(log, clock=clock, random=random, old_host_gone=old_host_gone, redact_after=redact_after)

    @classmethod
    def over(
        cls,
        log: EventLog,
        *,
        clock: Clock,
        random: Callable[[int], bytes],
        old_host_gone: bool = False,
        redact_after: Ages | None = None,
    ) -> "Holder":
        """Begin an epoch over a log that is open, as `open` does; where that fails, the log is closed."""
        try:
            key = _receipts_key(log.home)
            holder = cls(log, clock=clock, random=random, receipts_key=key, redact_after=redact_after)
            holder._old_host_gone = old_host_gone
            holder._begin()
        except BaseException:
            log.close()
            raise
        return holder

    def recover_again(self) -> frozenset[str]:
        """Try once more to record the ends that could not be recorded when the store was opened.

        Returns:
            The runs of which that is done now.

        Raises:
            StoreError: The store cannot even be read.
        """
        before = self.unrecovered
        self._recover()
        return before - self.unrecovered

    @property
    def closed(self) -> bool:
        """Whether the store was given back."""
        return self._closed

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do in the background: no erasure is open."""
        return self._housekeeping.settled

    @property
    def views(self) -> "Follower":
        """What keeps the views; each may be filled anew at any moment."""
        return self._housekeeping.follower

    def close(self) -> Head | None:
        """Record the end of the epoch and give the store back; twice does no harm.

        Returns:
            The head, to be kept elsewhere; ``None`` where the store could not take the last event.
        """
        with self._closing:
            if self._closed:
                return self._head
            self._closed = True
            self.renewal.close()
            self._housekeeping.close()
            try:
                self._head = self.transitions.stop_host().result()
            except StoreError as error:
                # The next holder finds an epoch without an end and recovers as after a crash.
                _log.warning("the end of this epoch was not recorded: %s", error.code)
            self.log.close()
            return self._head

    def _begin(self) -> None:
        self.transitions.start_host(self.process, __version__).result()
        self._recover()
        self._housekeeping.start()

    def _recover(self) -> None:
        self.unrecovered = recover(self.log, self.transitions, self.epoch, old_host_gone=self._old_host_gone)

    def _sweep(self, stopped: Callable[[], bool]) -> None:
        assert self._redact_after is not None
        by, now = f"host:{self.epoch}", self.clock.now()
        redact_aged(self.log, self._redact_after, now, by=by, actor=by, stopped=stopped)

    def _scrub(self) -> int:
        return len(scrub(self.log, by=self.epoch, actor=f"host:{self.epoch}"))


def _receipts_key(home: Home) -> bytes:
    """The key that receipts are fingerprinted with: made once, 0600, never in the log."""
    path = home.receipts_key
    check_file(path)
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        key = b""
    if len(key) == KEY_BYTES:
        return key
    # Missing, or cut by a crash while it was written: repeats of older commands are not recognised any more.
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    key = secrets.token_bytes(KEY_BYTES)
    descriptor = create_file(fresh)
    try:
        os.write(descriptor, key)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fresh.replace(path)
    return key
