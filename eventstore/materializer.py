"""What the writer asks of whoever keeps rows beside the log; the event store knows no more of projections."""

from typing import Protocol

import sqlalchemy

from runwright.eventstore.envelope import RecordedEvent


class Materializer(Protocol):
    """Rows that follow from events and commit with them.

    Everything is called on the writer's thread. Until `flush` nothing is written, so that undoing a unit is
    a matter of memory alone.
    """

    def attach(self, connection: sqlalchemy.Connection) -> None:
        """Take the writer's connection, a new one after trouble; forget whatever was remembered."""

    def apply(self, recorded: RecordedEvent) -> None:
        """Evolve the rows that an event touches, in memory."""

    def mark(self) -> int:
        """Answer a mark of the present state, for `undo`."""

    def undo(self, mark: int) -> None:
        """Go back to a mark."""

    def flush(self) -> None:
        """Write what is pending on the connection; the transaction is open."""

    def committed(self) -> None:
        """Learn that what was flushed is durable."""

    def discard(self) -> None:
        """Forget what is pending and whatever was remembered."""
