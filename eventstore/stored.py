"""The events of a store as bytes, read for verification: whatever stands in a row, reading it does not fail."""

from collections.abc import Iterator
from pathlib import Path

import sqlalchemy
from attrs import frozen
from sqlalchemy import LargeBinary, bindparam, cast, func, select

from runwright.eventstore import database
from runwright.eventstore.database import Row, Statement
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.errors import StoreCorrupt, StoreUnavailable
from runwright.eventstore.table import events, head, is_erasure

_BATCH = 500
_BATCH_BYTES = 4 * 1024 * 1024
_TEXTS = frozenset({"stream", "type", "actor", "command", "data", "body"})

#: Texts as their bytes: the chain is over what is stored, also where that is no text any more.
_COLUMNS = tuple(cast(each, LargeBinary).label(each.name) if each.name in _TEXTS else each for each in events.c)
_AFTER = Statement.of(
    select(*_COLUMNS)
    .where(events.c.position > bindparam("after"), events.c.position <= bindparam("upto"))
    .order_by(events.c.position)
    .limit(bindparam("most"))
)
_ERASURES = Statement.of(select(*_COLUMNS).where(is_erasure, events.c.position > bindparam("after")))
_CREATED = Statement.of(select(*_COLUMNS).where(events.c.type == "log.created").limit(1))
_LAST = Statement.of(select(func.max(events.c.position)))
_ENDS = Statement.of(
    select(select(func.max(events.c.position)).scalar_subquery(), head.c.position, head.c.hash).select_from(head)
)


class RowUnreadable(Exception):
    """A row holds what no event can; it says where."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class PageUnreadable(Exception):
    """SQLite could not read on."""


@frozen(kw_only=True)
class Ends:
    """Where the log ends, seen in one moment.

    Attributes:
        last: The highest position, 0 without events.
        head: The head row, or ``None`` where there is none.
        has_head: Whether the store has the table of the head row at all.
    """

    last: int
    head: Head | None
    has_head: bool


@frozen
class StoredEvents:
    """The events of one store behind a connection that only reads.

    Attributes:
        connection: The connection.
        path: The store's file.
    """

    connection: sqlalchemy.Connection
    path: Path

    def ends(self) -> Ends:
        """Answer where the log ends.

        Raises:
            PageUnreadable: The pages in question are damaged.
        """
        try:
            has_head = "head" in database.schema(self.connection)
            rows = database.execute(self.connection, _ENDS) if has_head else []
            if not rows:
                ((last,),) = database.execute(self.connection, _LAST)
                return Ends(last=last or 0, head=None, has_head=has_head)
        except (StoreCorrupt, StoreUnavailable):
            raise PageUnreadable from None
        last, position, digest = rows[0]
        return Ends(last=last or 0, head=Head(position, digest), has_head=True)

    def after(self, position: int, upto: int) -> Iterator[RecordedEvent]:
        """Read events in order, in short transactions.

        Raises:
            RowUnreadable: A row holds what no event can.
            PageUnreadable: A page is damaged; every event before it was answered.
        """
        most = _BATCH
        while position < upto:
            bound = _AFTER.bind(after=position, upto=upto, most=most)
            try:
                rows = database.execute_bounded(self.connection, _AFTER, bound, _size, _BATCH_BYTES)
            except (StoreCorrupt, StoreUnavailable):
                if most == 1:
                    raise PageUnreadable from None
                most = 1  # one by one, to hand on all that stands before the damage
                continue
            if not rows:
                return
            for row in rows:
                yield _event(row)
            position = rows[-1][0]

    def erasures_after(self, position: int) -> list[RecordedEvent]:
        """Read the few events that record erasures, committed since."""
        return [_event(row) for row in database.execute(self.connection, _ERASURES, (position,))]

    def created(self) -> RecordedEvent | None:
        """Find the event that a log begins with, wherever it stands."""
        rows = database.execute(self.connection, _CREATED)
        return _event(rows[0]) if rows else None


def _size(row: Row) -> int:
    return sum(len(each) for each in row if isinstance(each, bytes))


def _event(row: Row) -> RecordedEvent:
    position, stream, version, kind, at, actor, generation, command, data, digest, stored, salt, body = row
    whole = all(isinstance(each, int) for each in (position, version, at))
    bytes_ = all(isinstance(each, bytes) for each in (stream, kind, actor, data, stored))
    perhaps = all(each is None or isinstance(each, bytes) for each in (command, digest, salt, body))
    if not (whole and bytes_ and perhaps and (generation is None or isinstance(generation, int))):
        raise RowUnreadable(position)
    try:
        return RecordedEvent(
            position, stream.decode(), version, kind.decode(), at, actor.decode(), generation,
            None if command is None else command.decode(), data.decode(), digest, stored, salt,
            None if body is None else body.decode(),
        )  # fmt: skip
    except UnicodeDecodeError:
        raise RowUnreadable(position) from None
