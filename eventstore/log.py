"""The event log as its one holder sees it: open, commit units of work, follow what commits."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import sqlalchemy

from runwright.eventstore import chain, connected, filesystem, identity, opening, store_id
from runwright.eventstore.envelope import NEW, Head
from runwright.eventstore.errors import StoreCorrupt, StoreError, StoreMissing
from runwright.eventstore.events.log import LogCreated
from runwright.eventstore.follow import News, Signal, Subscription
from runwright.eventstore.home import Home
from runwright.eventstore.lock import StoreLock
from runwright.eventstore.materializer import Materializer
from runwright.eventstore.queue import Chore, Work
from runwright.eventstore.reader import LogReader
from runwright.eventstore.table import SCHEMA, Layout
from runwright.eventstore.transaction import Tx
from runwright.eventstore.writer import STORE_ACTOR, Writer

__all__ = ["EventLog", "LogReader", "Tx", "wall_clock_us"]

T = TypeVar("T")

PRODUCT = "runwright"

#: Seconds between two heads written into ``store.id`` while events are committed.
NOTE_EVERY = 60.0


def wall_clock_us() -> int:
    """Answer the wall clock in UTC microseconds."""
    return time.time_ns() // 1000


class EventLog(LogReader):
    """The log of the process that holds the store; open it with `EventLog.open`."""

    def __init__(self, home: Home, lock: StoreLock) -> None:
        super().__init__(home)
        self._lock = lock
        self._signal = Signal()
        self._writer: Writer | None = None
        #: When ``store.id`` was last written, on the monotonic clock; ``None`` while this is no store of its own.
        self._noted: float | None = None
        self._file: connected.Identity | None = None
        self._erased: Callable[[], object] = lambda: None
        self._closing = threading.Lock()

    @classmethod
    def open(  # type: ignore[override] # a holder needs more than a reader
        cls,
        home: Path,
        *,
        layout: Layout,
        control: Materializer,
        clock: Callable[[], int] = wall_clock_us,
        random: Callable[[int], bytes] = os.urandom,
        wait_lock: float | None = None,
        unsafe_filesystem: bool = False,
        adopting: bool = False,
    ) -> "EventLog":
        """Take the store, building it where there is none.

        Args:
            home: The state directory.
            layout: The layout it must have.
            control: The rows that commit with the events.
            clock: UTC microseconds.
            random: Where salts and the log's ID come from.
            wait_lock: How many seconds to wait for another holder; ``None`` not at all.
            unsafe_filesystem: Whether to open it on a network file system, too, without a WAL.
            adopting: Whether to open also a store that is not this place's own; `identity.adopt` alone does.

        Raises:
            StoreInUse: Another process holds it.
            StoreReadonly: It was copied, restored or imported, and nobody adopted it.
            StoreForeign: The file is not ours; and its kin `StoreNewer`, `StoreLayoutDiffers`, `StoreCorrupt`.
            UnsafeHome: Others could reach the directory.
            UnsafeFilesystem: The directory is on a network or shared file system.
        """
        place = Home(home)
        place.prepare()
        if not unsafe_filesystem:
            filesystem.check(home)
        log = cls(place, StoreLock.take(place, wait=wait_lock))
        try:
            log._open(layout, control, clock, random, wal=not unsafe_filesystem, adopting=adopting)
        except BaseException:
            log.close()
            raise
        return log

    def _open(
        self,
        layout: Layout,
        control: Materializer,
        clock: Callable[[], int],
        random: Callable[[int], bytes],
        *,
        wal: bool,
        adopting: bool,
    ) -> None:
        def own(connection: sqlalchemy.Connection) -> None:
            if not adopting:
                identity.require_own(self.home, connection)

        try:
            opening.check_header(self.home.log)
        except StoreMissing:
            opening.build(self.home, layout)
            built = examined = True
        else:
            built, examined = False, opening.examine(self.home.log, layout, own)
        new_id = random(16).hex()
        self._writer = writer = Writer(
            self.home.log,
            control,
            Head(0, chain.genesis(new_id)),
            clock=clock,
            random=random,
            notify=self._committed,
            wal=wal,
        )
        if not examined:
            opening.check(self.home.log, layout, self._connect(), own)
        if writer.head.position == 0:
            noted = store_id.noted(self.home)
            if not built and noted is not None and noted.position:
                raise StoreCorrupt(self.home.log, "its events are gone")
            # Before the first event: a crash between the two leaves no store that looks like a copy.
            identity.write(self.home, new_id, writer.head)
            created = LogCreated(product=PRODUCT, schema=SCHEMA, layout=layout.digest, log_id=new_id)
            self.transact(lambda tx: tx.append("log", NEW, [created], actor=STORE_ACTOR)).result()
        with self._borrowed() as connection:
            self.log_id = opening.read_log_id(self.home.log, connection)
        self._signal.advance(writer.head.position)
        if not adopting:
            self.note_head()

    def note_head(self) -> None:
        """Write the committed head into ``store.id``: this file, up to here, is this place's own.

        Raises:
            StoreFull: The disk takes no more; what stood in ``store.id`` stays.
        """
        identity.write(self.home, self.log_id, self.head())
        self._file = connected.identity(self.home.log)
        self._noted = time.monotonic()

    def _committed(self, head: Head, erases: bool) -> None:
        """Hear of a commit, on the writer's thread."""
        self._signal.advance(head.position)
        if erases:
            self._erased()
        if self._noted is not None and time.monotonic() - self._noted >= NOTE_EVERY:
            self._noted = time.monotonic()
            self._renew_id(head)

    def _renew_id(self, head: Head) -> None:
        """Write a newer head into ``store.id``, unless another file stands there now: that one is not our own."""
        if self._file == connected.identity(self.home.log):
            with suppress(StoreError):
                # The older head that stays there proves the same.
                identity.write(self.home, self.log_id, head)

    @property
    def failed(self) -> StoreError | None:
        """Why the writer serves nobody any more; ``None`` while it does. Whoever holds the log then stops."""
        return self._writer.failed if self._writer else None

    @property
    def in_place(self) -> bool:
        """Whether this store is still the one of its directory's name; what is written to another is lost."""
        return self._lock is not None and self._lock.is_named(self.home)

    def when_failed(self, tell: Callable[[], object]) -> None:
        """Have somebody told, on the writer's thread, once the writer serves nobody any more."""
        if self._writer is not None:
            self._writer.gave_up = tell

    def when_erased(self, tell: Callable[[], object]) -> None:
        """Have somebody told, on the writer's thread, of each commit that erased private values: see `try_scrub`."""
        self._erased = tell

    def transact(self, unit: Callable[[Tx], T], *, urgent: bool = False) -> "Future[T]":
        """Have a unit of work run and committed, together with others that wait.

        Args:
            unit: Reads, decides and appends through the `Tx` it gets. It runs on the writer's thread and may
                run more than once, so it has no side effects; what it raises, its caller gets, and nothing of
                it is written.
            urgent: Whether it goes before units that are not (renewals, cancels, settlements).

        Returns:
            A future that is done once the commit went through, with what the unit returned. Cancelling it
            changes nothing.

        Raises:
            NestedTransaction: The caller is a unit itself.
            StoreUnavailable: Too much is waiting, or the writer gave up.
            StoreClosed: The log was closed.
            Forked: This process is a child of the one that opened it.
        """
        self._check_usable()
        assert self._writer is not None
        work = Work(unit)
        self._writer.queue.put(work, urgent=urgent)
        return work.future

    def checkpoint(self, *, truncate: bool = False) -> bool:
        """Move the WAL into the file when nothing else waits; answer whether all of it went.

        Args:
            truncate: Whether to cut the WAL to nothing as well; an open reader prevents it.
        """
        self._check_usable()
        assert self._writer is not None
        writer = self._writer
        chore = Chore(lambda: writer.checkpoint(truncate=truncate))
        writer.queue.put_chore(chore)
        return bool(chore.future.result())

    def maintain(self, change: Callable[[sqlalchemy.Connection], T], beside: Path) -> T:
        """Change rows that follow from the log, in a transaction of its own, when nothing else waits.

        Args:
            change: Changes them on the connection it gets; it runs on the writer's thread, so the log stands
                still, and what was remembered of the rows is forgotten afterwards.
            beside: A database that the change finds attached as ``beside``.

        Returns:
            What the change returned.
        """
        self._check_usable()
        assert self._writer is not None
        writer = self._writer
        chore = Chore(lambda: writer.maintain(change, beside))
        writer.queue.put_chore(chore)
        result: T = chore.future.result()
        return result

    def head(self) -> Head:
        """Answer the last committed position and its hash."""
        self._check_usable()
        assert self._writer is not None
        return self._writer.head

    def subscribe(self, after: int) -> Subscription:
        """Follow the log: everything after a position, then what commits, until either is closed."""
        self._check_usable()
        return Subscription(after, self.batches, self._signal)

    @property
    def news(self) -> News:
        """Tells of commits, for whoever only has to know that there were some."""
        return self._signal

    def close(self) -> None:
        """Commit what waits, close the store and give it back; twice does no harm.

        Raises:
            NestedTransaction: The caller is a unit of work.
        """
        if self._forked:
            return
        if self._writer is not None:
            self._writer.queue.refuse_nested()
        with self._closing:
            self._signal.close()
            super().close()
            if self._writer is not None:
                self._writer.close()
                if self._noted is not None:
                    self._noted = None
                    self._renew_id(self._writer.head)
            self._lock.release()
