"""Import: a native export becomes a store again, the same bit for bit, or nothing is left of the attempt."""

from collections.abc import Iterator
from pathlib import Path

import sqlalchemy
from attrs import define, field
from sqlalchemy import insert

from runwright.eventstore import database, filesystem, opening
from runwright.eventstore.database import Statement
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.errors import StoreMissing, WriteRefused
from runwright.eventstore.headers import check_event
from runwright.eventstore.home import Home
from runwright.eventstore.lock import StoreLock
from runwright.eventstore.materializer import Materializer
from runwright.eventstore.table import Layout, events, head
from runwright.eventstore.transfer.errors import ExportIncomplete, StoreExists
from runwright.eventstore.verdict import Verdict
from runwright.eventstore.verify_export import ExportReading, Progress, damaged

_INSERT = Statement.of(insert(events))
_HEAD = Statement.of(insert(head))
_BEGIN = Statement("BEGIN IMMEDIATE")
_COMMIT = Statement("COMMIT")

_BATCH = 1000
_BATCH_BYTES = 8 * 1024 * 1024


def import_log(
    source: Path,
    home: Path,
    *,
    layout: Layout,
    control: Materializer,
    kept: Head | None = None,
    progress: Progress | None = None,
    unsafe_filesystem: bool = False,
) -> Verdict:
    """Make a store of a whole native export with its private values.

    Every event is verified before it is written, into a file of another name that is renamed at the end. The
    store is read-only until it is adopted.

    Args:
        source: The export.
        home: The state directory; it must hold no store.
        layout: The layout of the new store.
        control: The rows that follow from the events; they are written along.
        kept: A head that was kept elsewhere and that the export has to contain.
        progress: Called now and then with the position reached and the last one.
        unsafe_filesystem: Whether to write also to a network file system.

    Returns:
        The verdict over the export; its head is the new store's.

    Raises:
        StoreExists: There is a store; it was not touched.
        ExportDamaged: The export does not hold.
        ExportIncomplete: It holds, but is a part of a log, or lacks private values that nobody erased.
        ExportUnreadable: The file cannot be read.
        EventUnreadable: It holds an event that no version writes, or of a version that this one does not know.
        StoreInUse: Another process holds the state directory.
    """
    place = Home(home)
    place.prepare()
    if not unsafe_filesystem:
        filesystem.check(home)
    lock = StoreLock.take(place)
    try:
        _refuse_store(place)
        # What stood here belongs to a log that is gone, and a new file can get the same inode.
        place.store_id.unlink(missing_ok=True)
        filling = _Filling(ExportReading(source, head=kept, progress=progress), control)
        opening.build(place, layout, filling.fill)
        return filling.reading.verdict
    finally:
        lock.release()


def _refuse_store(place: Home) -> None:
    try:
        opening.check_header(place.log)
    except StoreMissing:
        return
    raise StoreExists(place.log)


@define
class _Filling:
    """Writes verified events into a store that is being built."""

    reading: ExportReading
    control: Materializer
    _last: RecordedEvent | None = field(default=None, init=False)

    def fill(self, connection: sqlalchemy.Connection) -> None:
        self.control.attach(connection)
        try:
            for batch in self._batches():
                self._write(connection, batch)
            verdict = self.reading.verdict
            if not verdict.ok or verdict.head is None:
                raise damaged(self.reading.source, verdict)
            if self.reading.unexplained is not None:
                raise ExportIncomplete(self.reading.source, "its private values are not in it")
            database.execute(connection, _HEAD, (1, verdict.head.position, verdict.head.hash))
        except BaseException:
            self.control.discard()
            raise

    def _batches(self) -> Iterator[list[RecordedEvent]]:
        batch: list[RecordedEvent] = []
        size = 0
        for event in self.reading.events():
            opened = self.reading.opening
            if opened is not None and not opened.complete:
                raise ExportIncomplete(self.reading.source, "it is a part of a log")
            check_event(event)
            batch.append(event)
            size += len(event.data) + len(event.body or "")
            if len(batch) >= _BATCH or size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _write(self, connection: sqlalchemy.Connection, batch: list[RecordedEvent]) -> None:
        database.execute(connection, _BEGIN)
        rows = [
            (
                e.position, e.stream, e.version, e.type, e.at, e.actor, e.generation, e.command,
                e.data, e.digest, e.hash, e.salt, e.body,
            )
            for e in batch
        ]  # fmt: skip
        try:
            database.execute_many(connection, _INSERT, rows)
        except WriteRefused:
            raise ExportIncomplete(self.reading.source, "its streams are not numbered without gaps") from None
        for event in batch:
            self.control.apply(event)
        self.control.flush()
        database.execute(connection, _COMMIT)
        self.control.committed()
