"""Reading a log, by whoever may open its file: short transactions, bounded batches, no lock."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import sqlalchemy
from sqlalchemy import bindparam, select

from runwright.eventstore import chain, codec, database, forks, opening
from runwright.eventstore.database import Row, Statement
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.errors import Forked, StoreClosed
from runwright.eventstore.events.event import Event
from runwright.eventstore.follow import Subscription, Watch
from runwright.eventstore.home import Home
from runwright.eventstore.snapshot import Snapshot
from runwright.eventstore.table import Layout, events
from runwright.eventstore.transaction import read_head

#: Events that a batch may hold, and bytes after which it takes no more.
BATCH = 500
BATCH_BYTES = 4 * 1024 * 1024
#: Positions that one statement looks through for events of given types, so that no read lasts long.
WINDOW = 20_000

_COLUMNS = tuple(events.c)
_FACTS = _COLUMNS[:-2]

_AFTER = Statement.of(
    select(*_COLUMNS)
    .where(events.c.position > bindparam("after"), events.c.position <= bindparam("upto"))
    .order_by(events.c.position)
    .limit(bindparam("most"))
)
_FACTS_AFTER = Statement.of(
    select(*_FACTS)
    .where(events.c.position > bindparam("after"), events.c.position <= bindparam("upto"))
    .order_by(events.c.position)
    .limit(bindparam("most"))
)
_IN_STREAM = Statement.of(
    select(*_COLUMNS)
    .where(events.c.stream == bindparam("stream"), events.c.version >= bindparam("version"))
    .order_by(events.c.version)
    .limit(bindparam("most"))
)
_AT = Statement.of(select(*_COLUMNS).where(events.c.position == bindparam("position")))
_BEGIN = Statement("BEGIN")
_END = Statement("ROLLBACK")
_ENDLESS = 2**63 - 1


class LogReader:
    """A log that can be read; open one with `LogReader.open`.

    Attributes:
        home: Where it stands.
        log_id: Its random ID, for ever.
    """

    log_id: str

    def __init__(self, home: Home) -> None:
        self.home = home
        self._idle: list[sqlalchemy.Connection] = []
        self._closed = False
        self._forked = False
        forks.watch(self)

    @classmethod
    def open(cls, home: Path, layout: Layout | None = None) -> Self:
        """Open a log for reading only, beside whoever holds it.

        Args:
            home: The state directory.
            layout: The layout it must have; without one only the table of events is needed.

        Raises:
            StoreMissing: There is no log.
            UnusableHome: There can be none.
            StoreForeign: The file is not ours; and its kin `StoreNewer`, `StoreLayoutDiffers`, `StoreCorrupt`.
            UnsafeHome: Somebody else could have put it there.
        """
        place = Home(home)
        place.check()
        opening.check_header(place.log)
        reader = cls(place)
        try:
            with reader._borrowed() as connection:
                if layout is not None:
                    opening.check_layout(place.log, layout, connection)
                reader.log_id = opening.read_log_id(place.log, connection)
        except BaseException:
            reader.close()
            raise
        return reader

    def read(self, stream: str, from_version: int = 1) -> Iterator[RecordedEvent]:
        """Read a stream in order.

        Args:
            stream: The stream; one without events reads as empty.
            from_version: The version to begin at.
        """
        if not _storable(stream):
            return
        while rows := self._bounded(_IN_STREAM, _IN_STREAM.bind(stream=stream, version=from_version, most=BATCH)):
            batch = [RecordedEvent(*row) for row in rows]
            yield from batch
            from_version = batch[-1].version + 1

    def read_all(
        self,
        after: int = 0,
        *,
        types: Collection[str] | None = None,
        streams: Collection[str] | None = None,
        limit: int | None = None,
        upto: int | None = None,
    ) -> Iterator[RecordedEvent]:
        """Read the log in order, up to what is committed when it gets there.

        Args:
            after: The position after which to begin.
            types: Only events of these types.
            streams: Only events of these streams.
            limit: How many events at most.
            upto: The last position to read.
        """
        left = _ENDLESS if limit is None else limit
        for batch in self.batches(after, types=types, streams=streams, upto=upto):
            yield from batch[:left]
            left -= len(batch)
            if left <= 0:
                return

    def batches(
        self,
        after: int = 0,
        *,
        types: Collection[str] | None = None,
        streams: Collection[str] | None = None,
        upto: int | None = None,
    ) -> Iterator[list[RecordedEvent]]:
        """Read the log in order, in batches of bounded size, each by one short transaction."""
        if types is None and streams is None:
            last = _ENDLESS if upto is None else upto
            while rows := self._bounded(_AFTER, _AFTER.bind(after=after, upto=last, most=BATCH)):
                yield [RecordedEvent(*row) for row in rows]
                after = rows[-1][0]
        else:
            yield from self._filtered(after, types, streams, self.head().position if upto is None else upto)

    def facts(self, after: int = 0, *, upto: int | None = None) -> Iterator[list[RecordedEvent]]:
        """Read the control facts of the log in batches, decoded, and never touch a private value.

        For replays: a batch is parsed in one go, and what stands in a body reads as ``None``.

        Raises:
            EventUnreadable: An event does not fit its type.
        """
        last = _ENDLESS if upto is None else upto
        while True:
            with self._borrowed() as connection:
                rows = database.execute(connection, _FACTS_AFTER, _FACTS_AFTER.bind(after=after, upto=last, most=BATCH))
            if not rows:
                return
            yield _decoded(rows)
            after = rows[-1][0]

    def event(self, position: int) -> RecordedEvent | None:
        """Answer the event at a position, or ``None``."""
        with self._borrowed() as connection:
            rows = database.execute(connection, _AT, (position,))
        return RecordedEvent(*rows[0]) if rows else None

    def head(self) -> Head:
        """Answer the last position and its hash."""
        with self._borrowed() as connection:
            return read_head(connection) or Head(0, chain.genesis(self.log_id))

    @property
    def without_wal(self) -> bool:
        """Whether the store is kept without a WAL, as on an unsafe file system; status says so."""
        with self._borrowed() as connection:
            return database.journal_mode(connection) != "wal"

    def subscribe(self, after: int) -> Subscription:
        """Follow the log: everything after a position, then what commits, until it is closed."""
        watching = self._connect()
        return Subscription(
            after, self.batches, Watch(lambda: database.data_version(watching)), lambda: watching.close()
        )

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Lend one moment of the log to a block that reads several things; keep it short."""
        with self._borrowed() as connection:
            database.execute(connection, _BEGIN)
            yield Snapshot(connection)
            database.execute(connection, _END)

    def rows(self, sql: sqlalchemy.Select[*tuple[Any, ...]]) -> list[Row]:
        """Execute a select of Core on a connection that can only read, and answer its rows."""
        with self._borrowed() as connection, database.translated(self.home.log):
            return [tuple(row) for row in connection.execute(sql)]

    def close(self) -> None:
        """Close it; twice does no harm."""
        if not self._forked:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def forked(self) -> None:
        """Refuse everything from now on: this process is a child that only inherited the handle."""
        self._forked = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _bounded(self, statement: Statement, row: Row) -> list[Row]:
        with self._borrowed() as connection:
            return database.execute_bounded(connection, statement, row, _size, BATCH_BYTES)

    def _filtered(
        self, after: int, types: Collection[str] | None, streams: Collection[str] | None, upto: int
    ) -> Iterator[list[RecordedEvent]]:
        wanted = select(*_COLUMNS).where(events.c.position > bindparam("after"), events.c.position <= bindparam("upto"))
        given: dict[str, object] = {}
        for column, values in ((events.c.type, types), (events.c.stream, streams)):
            if values is not None:
                storable = sorted(each for each in values if _storable(each))
                if not storable:
                    return
                names = {f"{column.name}_{number}": value for number, value in enumerate(storable)}
                wanted = wanted.where(column.in_([bindparam(name) for name in names]))
                given |= names
        statement = Statement.of(wanted.order_by(events.c.position).limit(bindparam("most")))
        while after < upto:
            # An index finds the events of streams; those of types alone have to be looked for.
            last = upto if streams is not None else min(upto, after + WINDOW)
            rows = self._bounded(statement, statement.bind(after=after, upto=last, most=BATCH, **given))
            if rows:
                yield [RecordedEvent(*row) for row in rows]
                after = rows[-1][0]
            else:
                after = last

    @contextmanager
    def _borrowed(self) -> Iterator[sqlalchemy.Connection]:
        """Lend a connection for one short transaction."""
        self._check_usable()
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _connect(self) -> sqlalchemy.Connection:
        self._check_usable()
        return database.connect_reader(self.home.log)

    def _check_usable(self) -> None:
        if self._forked:
            raise Forked
        if self._closed:
            raise StoreClosed


def _storable(name: str) -> bool:
    """Whether an event can bear a name: half of a character pair is in none, and no column can be asked for it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _size(row: Row) -> int:
    return len(row[8]) + len(row[12] or "")


def _decoded(rows: list[Row]) -> list[RecordedEvent]:
    """Make events of rows without private values, their control facts parsed in one go."""
    try:
        parsed = codec.parse_many([row[8] for row in rows])
    except (ValueError, RecursionError):
        parsed = []  # one of them is damaged: the slow way finds which
    if not parsed:
        return [_fact(row, codec.decode_event(row[3], row[8], None, row[0])) for row in rows]
    decode = codec.decode_parsed
    return [_fact(row, decode(row[3], facts, None, row[0])) for row, facts in zip(rows, parsed, strict=True)]


def _fact(row: Row, event: Event) -> RecordedEvent:
    return RecordedEvent(*(*row, None, None, False, event))
