"""Verification of a store: its file, its chain, its tail and what was erased from it."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import sqlalchemy
from attrs import define, field

from runwright.eventstore import database, opening, store_id, whole
from runwright.eventstore.chain import genesis
from runwright.eventstore.database import Statement
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.erased import ErasureLedger
from runwright.eventstore.errors import StoreCorrupt, StoreError, StoreForeign, StoreMissing, StoreUnavailable
from runwright.eventstore.home import Home
from runwright.eventstore.stored import Ends, PageUnreadable, RowUnreadable, StoredEvents
from runwright.eventstore.verdict import Fault, Verdict
from runwright.eventstore.walk import ChainWalk, body_fault, log_begun_by, tail_fault

#: Called now and then with the position reached and the last one.
Progress = Callable[[int, int], None]

_BEGIN, _COMMIT = Statement("BEGIN"), Statement("COMMIT")

_PROGRESS_EVERY = 1000
_ENDLESS = 2**63 - 1


class Tables(Protocol):
    """The tables that follow from the events, compared with them while a store is walked once."""

    def read(self, connection: sqlalchemy.Connection) -> None:
        """Take what the tables say, in the very moment that the walk goes up to."""
        ...

    def saw(self, event: RecordedEvent) -> None:
        """Take notice of the next event that holds."""
        ...

    def fault(self) -> Fault | None:
        """Answer the first thing that a table says and the events do not."""
        ...


def verify_store(
    path: Path,
    *,
    deep: bool = False,
    head: Head | None = None,
    progress: Progress | None = None,
    tables: Callable[[], Tables] | None = None,
) -> Verdict:
    """Check a store without changing it; beside a living holder, too, but never inside it.

    It needs the table of events alone, so a store of another layout can be checked as well.

    Args:
        path: The state directory, or a file: the log, or a backup of one.
        deep: Whether SQLite also compares every index with its table.
        head: A head that was kept elsewhere and that the log has to contain.
        progress: Called now and then with the position reached and the last one.
        tables: Makes what compares the tables that follow from the events with them; without it they are left out.

    Returns:
        The verdict: the first bad position and what is wrong there.

    Raises:
        StoreMissing: There is no store, or whoever made it was killed before writing its first event.
        StoreForeign: The file is not ours; `StoreNewer` where a newer version wrote it.
        StoreBusy: Something outside keeps the file locked.
        StoreUnavailable: The file may not be read.
    """
    log = Home(path).log if path.is_dir() else path
    if not os.path.lexists(path):
        raise StoreMissing(path)
    try:
        opening.check_header(log)
    except StoreCorrupt as error:
        return _verify_cut(log, error)
    except OSError as error:
        raise StoreUnavailable(f"{log} cannot be read ({error.strerror})") from None
    before = _trace(log)
    at_rest = not any(_beside(log, suffix).exists() for suffix in ("-wal", "-journal"))
    verdict = _verify(log, deep, head, progress, tables, at_rest=at_rest)
    if at_rest and _trace(log) != before:
        # Somebody opened it since, and what was read as it stood may be half of one moment and half of another.
        verdict = _verify(log, deep, head, progress, tables, at_rest=False)
    if verdict.problem == "head_changed" and not verdict.events and head is None and _unbegun(log):
        raise StoreMissing(log.parent)
    if verdict.problem == "page_corrupt" and _beside(log, "-journal").exists():
        # Reading alone may not roll back; half a transaction is no damage.
        raise StoreUnavailable("an unfinished transaction stands beside it, which the next opening rolls back")
    return verdict


def _unbegun(log: Path) -> bool:
    """Whether no event was ever written there: whoever built the store was killed before the first."""
    home = Home(log.parent)
    if log != home.log:
        return False  # a backup always holds events
    noted = store_id.noted(home)
    return noted is None or noted.position == 0


def _verify(
    log: Path,
    deep: bool,
    head: Head | None,
    progress: Progress | None,
    tables: Callable[[], Tables] | None,
    *,
    at_rest: bool,
) -> Verdict:
    try:
        connection = database.connect_frozen(log, immutable=True) if at_rest else database.connect_reader(log)
    except (StoreCorrupt, StoreUnavailable):
        return Verdict(faults=(Fault("page_corrupt", None, "SQLite cannot open the file."),))
    with connection:
        compared = None if tables is None else tables()
        walk = StoreWalk(connection=connection, path=log, kept=head, progress=progress, tables=compared)
        damaged = whole.is_damaged(connection, deep=deep)
        fault = walk.run()
        faults = () if fault is None else (fault,)
        if damaged and (fault is None or fault.problem != "page_corrupt"):
            at = "" if fault is None else f"; the first event that shows it is {fault.position}"
            detail = f"SQLite finds the file damaged{at}."
            faults = (Fault("page_corrupt", None if fault is None else fault.position, detail), *faults)
        return Verdict(faults=faults, events=walk.events, log_id=walk.log_id, head=walk.at, values=True)


def _verify_cut(log: Path, error: StoreCorrupt) -> Verdict:
    """Say of a file that is not whole how much of the log can still be read."""
    detail = f"The file is not whole: {error.what}."
    try:
        connection = database.connect_cut(log)
    except StoreError:
        return Verdict(faults=(Fault("store_cut", None, detail),))
    with connection:
        walk = StoreWalk(connection=connection, path=log)
        try:
            fault = walk.run()
        except StoreError:
            fault = None
        place = None if fault is None else fault.position
        return Verdict(
            faults=(Fault("store_cut", place, detail),),
            events=walk.events,
            log_id=walk.log_id,
            head=walk.at,
            values=True,
        )


def _trace(log: Path) -> tuple[object, ...]:
    """Answer what changes when somebody opens a store that was at rest."""
    found = log.stat()
    return _beside(log, "-wal").exists(), found.st_ino, found.st_size, found.st_mtime_ns


def _beside(log: Path, suffix: str) -> Path:
    return log.with_name(log.name + suffix)


@define(kw_only=True)
class StoreWalk:
    """One pass over the events of a store, up to the first fault.

    Attributes:
        connection: A connection that only reads.
        path: The store's file.
        kept: A head that was kept elsewhere.
        progress: Called now and then.
        tables: What compares the tables that follow from the events with them.
        log_id: The log's ID, once it is known.
        events: How many events held.
        at: The last event that held.
    """

    connection: sqlalchemy.Connection
    path: Path
    kept: Head | None = None
    progress: Progress | None = None
    tables: Tables | None = None
    log_id: str | None = field(default=None, init=False)
    events: int = field(default=0, init=False)
    at: Head | None = field(default=None, init=False)
    _ledger: ErasureLedger = field(factory=ErasureLedger, init=False)

    def run(self) -> Fault | None:
        """Walk, and answer the first fault or ``None``.

        Raises:
            StoreForeign: There is no table of events.
        """
        stored = StoredEvents(self.connection, self.path)
        try:
            if "events" not in database.schema(self.connection):
                raise StoreForeign(self.path, "it has no table of events")
            try:
                ends = self._ends(stored)
            except PageUnreadable:
                # What stands before the damage still tells where it begins.
                fault = self._walk(stored, _ENDLESS)
                if fault is not None:
                    return fault
                raise
            fault = self._walk(stored, ends.last) or self._tail(ends) or self._gone(stored, ends)
            return self.tables.fault() if fault is None and self.tables is not None else fault
        except (PageUnreadable, StoreCorrupt, StoreUnavailable):
            place = self.events + 1
            return Fault("page_corrupt", place, f"The pages that hold event {place} cannot be read.")
        except RowUnreadable as row:
            return Fault("event_changed", row.position, f"Event {row.position} holds what no event can.")

    def _ends(self, stored: StoredEvents) -> Ends:
        """Answer where the log ends, and have the tables read in that same moment."""
        if self.tables is None:
            return stored.ends()
        database.execute(self.connection, _BEGIN)
        try:
            ends = stored.ends()
            self.tables.read(self.connection)
        finally:
            with suppress(StoreError):  # it may be gone already, where a page could not be read
                database.execute(self.connection, _COMMIT)
        return ends

    def _walk(self, stored: StoredEvents, last: int) -> Fault | None:
        found = stored.after(0, last)
        first = next(found, None)
        if first is None:
            return None
        created = log_begun_by(first) or log_begun_by(stored.created())
        if created is None:
            what = "is not the one that a log begins with" if first.position == 1 else "is missing"
            return Fault("event_changed" if first.position == 1 else "event_missing", 1, f"Event 1 {what}.")
        self.log_id = created
        walk = ChainWalk(genesis(created))
        for event in _again(first, found):
            if not walk.fits(event):
                return walk.diagnose(event, _readable(stored, event.position, last))
            fault = body_fault(event) or self._against_kept(event)
            if fault is not None:
                return fault
            self._ledger.saw(event)
            if self.tables is not None:
                self.tables.saw(event)
            self.at, self.events = walk.head, walk.steps
            if self.progress is not None and (walk.steps % _PROGRESS_EVERY == 0 or event.position == last):
                self.progress(event.position, last)
        return None

    def _against_kept(self, event: RecordedEvent) -> Fault | None:
        if self.kept is None or event.position != self.kept.position or event.hash == self.kept.hash:
            return None
        detail = f"Event {event.position} is not the one that the kept head was taken from."
        return Fault("head_differs", event.position, detail)

    def _tail(self, ends: Ends) -> Fault | None:
        """Compare the end with the head row, which every commit writes, and with a kept head."""
        if ends.has_head and ends.head is None:
            return Fault("head_changed", ends.last or 1, "The head row is missing.")
        for kept, whose in ((ends.head, "the head row"), (self.kept, "the kept head")):
            fault = None if kept is None else tail_fault(self.at, kept, whose)
            if fault is not None:
                return fault
        row = ends.head
        if row is not None and row.position < ends.last:
            detail = f"The head row stands at {row.position}, and the log goes on to {ends.last}."
            return Fault("head_changed", row.position + 1, detail)
        if row is not None and self.at is not None and row.hash != self.at.hash:
            detail = f"Event {row.position}, the last, is not the one that the head row names."
            return Fault("event_changed", row.position, detail)
        if self.at is None:
            return Fault("tail_missing", 1, "The log has no events, not even the one that it begins with.")
        return None

    def _gone(self, stored: StoredEvents, ends: Ends) -> Fault | None:
        """Ask of every missing private value for the erasure that explains it."""
        if self._ledger.unexplained() is not None:
            # Somebody may have erased while the log was read: the record then stands behind the end we saw.
            for event in stored.erasures_after(ends.last):
                self._ledger.recorded(event)
        missing = self._ledger.unexplained()
        if missing is None:
            return None
        detail = f"The private values of event {missing} are gone, and no erasure is recorded."
        return Fault("body_missing", missing, detail)


def _again(first: RecordedEvent, rest: Iterator[RecordedEvent]) -> Iterator[RecordedEvent]:
    yield first
    yield from rest


def _readable(stored: StoredEvents, position: int, upto: int) -> Iterator[RecordedEvent]:
    """Answer what can still be read after a fault, which only helps to tell what the fault is."""
    while position < upto:
        try:
            for event in stored.after(position, upto):
                position = event.position
                yield event
        except RowUnreadable as row:
            position = row.position
        except PageUnreadable:
            return
        else:
            return
