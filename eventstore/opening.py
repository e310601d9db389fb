"""Looking at a store before it is opened, without leaving a trace, and building one that is not there."""

import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import sqlalchemy
from attrs import frozen

from runwright.eventstore import chain, connected, database
from runwright.eventstore.codec import decode_event
from runwright.eventstore.database import Statement
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.errors import (
    EventUnreadable,
    StoreCorrupt,
    StoreForeign,
    StoreLayoutDiffers,
    StoreMissing,
    StoreNewer,
)
from runwright.eventstore.events.log import LogCreated
from runwright.eventstore.home import SQLITE_MAGIC, Home, create_file, sync_folder
from runwright.eventstore.table import APPLICATION_ID, SCHEMA, Layout, events
from runwright.eventstore.transaction import read_head

_HEADER = 100
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_WAL_FORMAT = 3_007_000

_LAST = Statement.of(sqlalchemy.select(events).order_by(events.c.position.desc()).limit(2))
_FIRST = Statement.of(sqlalchemy.select(events).where(events.c.position == 1))

#: Looks at something in a store, through a connection that it does not keep.
Look: TypeAlias = Callable[[sqlalchemy.Connection], None]


@frozen
class _Header:
    """What stands in the first 100 bytes of a database."""

    page_size: int
    pages: int | None
    schema: int
    application: int

    @classmethod
    def read(cls, head: bytes) -> "_Header":
        (size,) = struct.unpack_from(">H", head, 16)
        changes, pages = struct.unpack_from(">II", head, 24)
        (schema,) = struct.unpack_from(">i", head, 60)
        (application,) = struct.unpack_from(">I", head, 68)
        (valid_for,) = struct.unpack_from(">I", head, 92)
        return cls(65536 if size == 1 else size, pages if valid_for == changes else None, schema, application)


def check_header(path: Path) -> None:
    """Check by the files' first bytes that a store is ours, not newer and not cut, before SQLite sees it.

    Raises:
        StoreMissing: There is no file.
        StoreForeign: The file, or a WAL or journal beside it, is not of a store of ours.
        StoreNewer: A newer version wrote it.
        StoreCorrupt: It is empty, or shorter than it says.
        UnsafeHome: What should hold it is no directory; or, as `UnusableHome`, cannot be looked at.
    """
    Home(path.parent).look()
    with connected.opening:
        if connected.is_connected(path):
            return  # it was checked when that connection was made; closing a descriptor now would drop its locks
        wal, journal = _beside(path, "-wal"), _beside(path, "-journal")
        if not path.exists():
            for stray in (wal, journal):
                if _size(stray):
                    raise StoreForeign(stray, "it stands there without its store")
            raise StoreMissing(path.parent)
        header = _checked_header(path)
        if _size(wal):
            _check_wal(wal, header)
        if _size(journal):
            _check_journal(journal, header)
        size = path.stat().st_size
        whole = header.page_size * (header.pages or 0)
        # While a WAL or a journal stands beside it, the file itself may rightly be behind its header.
        if not _size(wal) and not _size(journal) and (size < whole or size % header.page_size):
            raise StoreCorrupt(path, f"it has {size:,} bytes of {whole:,}")


def _checked_header(path: Path) -> _Header:
    with path.open("rb") as file:
        head = file.read(_HEADER)
    if not head:
        raise StoreCorrupt(path, "it is empty")
    if not head.startswith(SQLITE_MAGIC[: len(head)]):
        raise StoreForeign(path, "it is no SQLite database")
    if len(head) < _HEADER:
        raise StoreCorrupt(path, f"it has {len(head)} bytes, less than its header")
    header = _Header.read(head)
    if header.application != APPLICATION_ID:
        raise StoreForeign(path, "another application made it")
    if header.schema > SCHEMA:
        raise StoreNewer(path, header.schema, SCHEMA)
    if header.schema != SCHEMA:
        raise StoreLayoutDiffers(path, f"it has schema {header.schema}, which no version wrote")
    if header.page_size < 512 or header.page_size & (header.page_size - 1):
        raise StoreCorrupt(path, "its page size is none")
    return header


def _check_wal(wal: Path, header: _Header) -> None:
    with wal.open("rb") as file:
        head = file.read(32)
    if len(head) < 32:
        return  # a header that was never finished counts as no WAL, for SQLite too
    magic, layout, page_size = struct.unpack_from(">III", head)
    if magic not in _WAL_MAGIC or layout != _WAL_FORMAT or page_size != header.page_size:
        raise StoreForeign(wal, "it is not the WAL of the store beside it")


def _check_journal(journal: Path, header: _Header) -> None:
    with journal.open("rb") as file:
        head = file.read(28)
    if not head[: len(_JOURNAL_MAGIC)].strip(b"\0"):
        # Finished, or not begun: SQLite writes the magic only once the whole journal is on the disk.
        return
    page_size = struct.unpack_from(">I", head, 24)[0] if len(head) == 28 else 0
    if not head.startswith(_JOURNAL_MAGIC) or page_size != header.page_size:
        raise StoreForeign(journal, "it is not the journal of the store beside it")


def examine(path: Path, layout: Layout | None, also: Look = lambda _: None) -> bool:
    """Check layout, head row and last event of a store that nobody writes, leaving every byte as it was.

    The caller holds the store's lock.

    Args:
        path: The store.
        layout: The layout it must have.
        also: What else to look at, as `check` has it.

    Returns:
        Whether it could be looked at like that. Where this process reads it already, or a journal has to be
        rolled back first, `check` is to follow on a connection of the opened store.

    Raises:
        StoreLayoutDiffers: Its tables are laid out otherwise.
        StoreCorrupt: Its head row or its last event does not hold, or a page cannot be read.
    """
    with connected.opening:
        if connected.is_connected(path) or _size(_beside(path, "-journal")):
            return False
        if not _size(_beside(path, "-wal")):
            check(path, layout, database.connect_frozen(path, immutable=True), also)
            return True
        # SQLite makes a -shm beside a WAL, also for a reader: give it other names of the same two files to look at.
        folder = path.with_name("look")
        shutil.rmtree(folder, ignore_errors=True)  # left by a crash: second names only
        folder.mkdir(mode=0o700)
        try:
            for suffix in ("", "-wal"):
                os.link(_beside(path, suffix), _beside(folder / path.name, suffix))
            check(path, layout, database.connect_frozen(folder / path.name, immutable=False), also)
        finally:
            shutil.rmtree(folder)
        return True


def check(path: Path, layout: Layout | None, connection: sqlalchemy.Connection, also: Look = lambda _: None) -> None:
    """Check layout, head row and the last event's hash on a connection, and close that.

    Args:
        path: The store.
        layout: The layout it must have.
        connection: The connection.
        also: What else to look at on it; not called where there are no events.

    Raises:
        StoreLayoutDiffers: Its tables are laid out otherwise.
        StoreCorrupt: Its head row or its last event does not hold, or a page cannot be read.
    """
    with connection, database.translated(path):
        if layout is not None:
            check_layout(path, layout, connection)
        rows = database.execute(connection, _LAST)
        found = read_head(connection)
        if not rows:
            if found is not None:
                raise StoreCorrupt(path, "its head row names an event, and there is none")
            return
        last = RecordedEvent(*rows[0])
        if found != Head(last.position, last.hash):
            raise StoreCorrupt(path, "its head row names another last event")
        if len(rows) > 1:
            previous: bytes = rows[1][10]
        else:
            previous = chain.genesis(read_log_id(path, connection))
        if chain.hash_after(previous, last) != last.hash:
            raise StoreCorrupt(path, f"the hash of its last event, at position {last.position}, does not hold")
        also(connection)


def check_layout(path: Path, layout: Layout, connection: sqlalchemy.Connection) -> None:
    """Compare the store's statements with a layout's, literally.

    Raises:
        StoreLayoutDiffers: They are not the same.
    """
    found = database.schema(connection)
    wanted = set(layout.statements)
    strange = sorted(name for name, statement in found.items() if statement not in wanted)
    if strange:
        raise StoreLayoutDiffers(path, f"{strange[0]} is laid out otherwise, or unknown")
    if len(found) != len(wanted):
        raise StoreLayoutDiffers(path, f"{len(wanted) - len(found)} of its tables, indexes or triggers are missing")


def read_log_id(path: Path, connection: sqlalchemy.Connection) -> str:
    """Answer the ID that the first event gives the log.

    Raises:
        StoreMissing: The log has no first event: whoever made the store was killed before writing it.
        StoreCorrupt: The first event is none that a log begins with.
    """
    rows = database.execute(connection, _FIRST)
    if not rows:
        raise StoreMissing(path.parent)
    first = RecordedEvent(*rows[0])
    try:
        event = decode_event(first.type, first.data, None, first.position)
    except EventUnreadable:
        event = None
    if not isinstance(event, LogCreated):
        raise StoreCorrupt(path, "its first event is not the one that a log begins with")
    return event.log_id


def build(home: Home, layout: Layout, fill: Look = lambda _: None) -> None:
    """Build a new store: under another name first, whole and on disk before it has its own.

    The caller holds the store's lock and knows that there is no store.

    Args:
        home: Where it goes.
        layout: Its layout.
        fill: Puts events into it; when it raises, nothing is left behind.
    """
    new = home.log.with_name(home.log.name + ".new")
    for left in (new, _beside(new, "-journal")):  # by a crash
        left.unlink(missing_ok=True)
    os.close(create_file(new))
    try:
        with database.connect_writer(new, wal=False) as connection, database.translated(new):
            database.define(connection, APPLICATION_ID, SCHEMA, layout.statements)
            fill(connection)
    except BaseException:
        new.unlink(missing_ok=True)
        _beside(new, "-journal").unlink(missing_ok=True)
        raise
    descriptor = os.open(new, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.rename(home.log)
    sync_folder(home.path)
    sync_folder(home.path.parent)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
