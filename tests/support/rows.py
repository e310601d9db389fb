"""A tiny materializer: counts the events of each stream in a table of its own, with an undo log."""

import sqlalchemy

from runwright.eventstore.database import Statement, execute_many
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.table import EVENTS_DDL, EVENTS_LAYOUT, Layout

DDL = """
CREATE TABLE counts (
    stream TEXT NOT NULL PRIMARY KEY,
    events INTEGER NOT NULL CHECK (events < 1000)
) STRICT;
"""

LAYOUT = Layout.parse(EVENTS_DDL, DDL)
assert LAYOUT.statements[: len(EVENTS_LAYOUT.statements)] == EVENTS_LAYOUT.statements

counts = sqlalchemy.table("counts", sqlalchemy.column("stream"), sqlalchemy.column("events"))
_UPSERT = Statement("INSERT INTO counts VALUES (?, ?) ON CONFLICT (stream) DO UPDATE SET events = excluded.events")


class Counts:
    """How many events each stream has; `log` is not counted."""

    def __init__(self) -> None:
        self.connection: sqlalchemy.Connection | None = None
        self.pending: dict[str, int] = {}
        self.undo_log: list[tuple[str, int | None]] = []
        self.attached = 0
        self.refuse: str | None = None

    def attach(self, connection: sqlalchemy.Connection) -> None:
        """Take the writer's connection."""
        self.connection = connection
        self.attached += 1
        self.discard()

    def apply(self, recorded: RecordedEvent) -> None:
        """Count an event."""
        if recorded.stream == self.refuse:
            raise ValueError("this stream is refused")
        self.undo_log.append((recorded.stream, self.pending.get(recorded.stream)))
        self.pending[recorded.stream] = recorded.version

    def mark(self) -> int:
        """Answer where the undo log stands."""
        return len(self.undo_log)

    def undo(self, mark: int) -> None:
        """Go back to a mark."""
        for stream, before in reversed(self.undo_log[mark:]):
            if before is None:
                del self.pending[stream]
            else:
                self.pending[stream] = before
        del self.undo_log[mark:]

    def flush(self) -> None:
        """Write the counts."""
        assert self.connection is not None
        execute_many(self.connection, _UPSERT, list(self.pending.items()))

    def committed(self) -> None:
        """Forget what is durable."""
        self.discard()

    def discard(self) -> None:
        """Forget everything."""
        self.pending.clear()
        self.undo_log.clear()


class Nothing:
    """No rows at all."""

    def attach(self, connection: sqlalchemy.Connection) -> None:
        """Nothing."""

    def apply(self, recorded: RecordedEvent) -> None:
        """Nothing."""

    def mark(self) -> int:
        """Answer a mark of nothing."""
        return 0

    def undo(self, mark: int) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing."""

    def committed(self) -> None:
        """Nothing."""

    def discard(self) -> None:
        """Nothing."""
