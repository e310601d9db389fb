"""One moment of the log: several reads that see the same committed state."""

import sqlalchemy
from sqlalchemy import bindparam, func, select

from runwright.eventstore import database
from runwright.eventstore.database import Statement
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.table import events, head

_AT = Statement.of(select(*events.c).where(events.c.position == bindparam("position")))
_VERSION = Statement.of(select(func.max(events.c.version)).where(events.c.stream == bindparam("stream")))
_HEAD = Statement.of(select(head.c.position))


class Snapshot:
    """What a read transaction sees; it ends with the block it was lent to.

    Attributes:
        connection: A connection that can only read, inside the transaction.
    """

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self.connection = connection

    def position(self) -> int:
        """Answer the last position, 0 for an empty log."""
        rows = database.execute(self.connection, _HEAD)
        return int(rows[0][0]) if rows else 0

    def version(self, stream: str) -> int:
        """Answer a stream's version, 0 where it has no events."""
        ((version,),) = database.execute(self.connection, _VERSION, (stream,))
        return int(version or 0)

    def event(self, position: int) -> RecordedEvent | None:
        """Answer the event at a position, or ``None``."""
        rows = database.execute(self.connection, _AT, (position,))
        return RecordedEvent(*rows[0]) if rows else None
