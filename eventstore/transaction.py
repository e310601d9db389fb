"""What the units of one commit append, kept in memory until it is written, and the part that one unit sees."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import sqlalchemy
from attrs import evolve

from runwright.eventstore import chain
from runwright.eventstore.codec import encode_event
from runwright.eventstore.database import Row, Statement, execute, execute_many
from runwright.eventstore.envelope import ANY, NEW, Appended, Expected, Head, RecordedEvent
from runwright.eventstore.errors import NestedTransaction, ValueRefused, WrongExpectedVersion
from runwright.eventstore.events.event import Event
from runwright.eventstore.headers import check_actor, check_command, check_generation, check_stream
from runwright.eventstore.inserting import insert_many
from runwright.eventstore.materializer import Materializer
from runwright.eventstore.table import events, head

#: Streams remembered with their versions before all are forgotten.
_MOST_VERSIONS = 50_000

_INSERT = Statement.of(sqlalchemy.insert(events))
_VERSION = Statement.of(
    sqlalchemy.select(sqlalchemy.func.max(events.c.version)).where(events.c.stream == sqlalchemy.bindparam("stream"))
)
_EVENT = Statement.of(sqlalchemy.select(events).where(events.c.position == sqlalchemy.bindparam("position")))
_STREAM = Statement.of(sqlalchemy.select(events.c.stream).where(events.c.position == sqlalchemy.bindparam("position")))
_ERASE = Statement.of(
    sqlalchemy.update(events)
    .where(events.c.position == sqlalchemy.bindparam("at_position"))
    .values(salt=sqlalchemy.null(), body=sqlalchemy.null())
)
_HEAD = Statement.of(sqlalchemy.select(head.c.position, head.c.hash))
_FIRST_HEAD = Statement.of(sqlalchemy.insert(head))
_NEXT_HEAD = Statement.of(
    sqlalchemy.update(head).values(position=sqlalchemy.bindparam("at_position"), hash=sqlalchemy.bindparam("at_hash"))
)


#: A state of a batch to go back to: events, changes, erasures, bytes, and the mark of the rows beside it.
Mark: TypeAlias = tuple[int, int, int, int, int]


class Salts:
    """Random salts, drawn many at a time: each call into the kernel hands the interpreter to another thread.

    Args:
        random: Where random bytes come from.
    """

    def __init__(self, random: Callable[[int], bytes]) -> None:
        self._random = random
        self._drawn: list[bytes] = []

    def next(self) -> bytes:
        """Answer a salt that nobody had before."""
        if not self._drawn:
            block = self._random(64 * chain.SALT_BYTES)
            self._drawn = [block[at : at + chain.SALT_BYTES] for at in range(0, len(block), chain.SALT_BYTES)]
        return self._drawn.pop()


class Batch:
    """The pending part of the log: what a commit will add to it.

    Args:
        connection: The writer's connection, inside its transaction.
        control: The rows that commit with the events.
        after: The head before the batch.
        versions: The versions of streams as committed; filled by looking, never with what is pending.
        salts: Where salts come from.
    """

    def __init__(
        self,
        connection: sqlalchemy.Connection,
        control: Materializer,
        after: Head,
        versions: dict[str, int],
        salts: Salts,
    ) -> None:
        self.control = control
        self.recorded: list[RecordedEvent] = []
        self.size = 0
        self._connection = connection
        self._after = after
        self._committed = versions
        self._salts = salts
        self._pending: dict[str, int] = {}
        self._changes: list[tuple[str, int]] = []
        self._erased: list[int] = []

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.recorded and not self._erased

    @property
    def position(self) -> int:
        """The last position with the batch."""
        return self._after.position + len(self.recorded)

    @property
    def head(self) -> Head:
        """The head of the log with the batch."""
        return Head(self.recorded[-1].position, self.recorded[-1].hash) if self.recorded else self._after

    def version(self, stream: str) -> int:
        """Answer a stream's version with what is pending, 0 where it has no events."""
        found = self._pending.get(stream)
        if found is None:
            found = self._committed.get(stream)
        if found is None:
            ((highest,),) = execute(self._connection, _VERSION, (stream,))
            if len(self._committed) >= _MOST_VERSIONS:
                self._committed.clear()
            found = self._committed[stream] = highest or 0
        return found

    def event(self, position: int) -> RecordedEvent | None:
        """Answer an event, pending or committed."""
        index = position - self._after.position - 1
        if 0 <= index < len(self.recorded):
            found = self.recorded[index]
        elif rows := execute(self._connection, _EVENT, (position,)):
            found = RecordedEvent(*rows[0])
        else:
            return None
        return evolve(found, salt=None, body=None, event=None) if position in self._erased else found

    def append(
        self,
        stream: str,
        version: int,
        new: Sequence[Event],
        at: int,
        actor: str,
        generation: int | None,
        command: str | None,
    ) -> None:
        """Add events after a stream's version, and evolve the rows they touch; all of them or none."""
        texts = [encode_event(event) for event in new]
        mark = self.mark()
        try:
            position, previous = self.position, self.recorded[-1].hash if self.recorded else self._after.hash
            for event, (data, body) in zip(new, texts, strict=True):
                position += 1
                version += 1
                salt = digest = None
                if body is not None:
                    salt = self._salts.next()
                    digest = chain.body_digest(salt, body)
                    self.size += len(body)
                previous = chain.event_hash(
                    previous, position, stream, version, event.type, at, actor, generation, command, data, digest
                )
                self.size += len(data)
                self._changes.append((stream, version - 1))
                self._pending[stream] = version
                recorded = RecordedEvent(
                    position,
                    stream,
                    version,
                    event.type,
                    at,
                    actor,
                    generation,
                    command,
                    data,
                    digest,
                    previous,
                    salt,
                    body,
                    True,
                    event,
                )
                self.recorded.append(recorded)
                self.control.apply(recorded)
        except BaseException:
            self.undo(mark)
            raise

    def erase(self, positions: Sequence[int]) -> None:
        """Have the private values at these positions erased by the commit."""
        for position in positions:
            stream = self._stream_at(position)
            if stream is None or stream == "log" or stream.startswith(("definition/", "sources/")):
                raise ValueRefused("positions", f"names {position}, which cannot be erased", "name a run's events")
        self._erased.extend(positions)

    def _stream_at(self, position: int) -> str | None:
        index = position - self._after.position - 1
        if 0 <= index < len(self.recorded):
            return self.recorded[index].stream
        rows = execute(self._connection, _STREAM, (position,))
        return rows[0][0] if rows else None

    def mark(self) -> Mark:
        """Answer a mark of the present state."""
        return len(self.recorded), len(self._changes), len(self._erased), self.size, self.control.mark()

    def undo(self, mark: Mark) -> None:
        """Take back whatever came after a mark."""
        recorded, changes, erased, self.size, control = mark
        for stream, version in reversed(self._changes[changes:]):
            self._pending[stream] = version
        del self._changes[changes:]
        del self.recorded[recorded:]
        del self._erased[erased:]
        self.control.undo(control)

    def write(self) -> None:
        """Write the batch on the connection: the events in one go, erasures, rows, head."""
        rows: list[Row] = [
            (
                each.position,
                each.stream,
                each.version,
                each.type,
                each.at,
                each.actor,
                each.generation,
                each.command,
                each.data,
                each.digest,
                each.hash,
                each.salt,
                each.body,
            )
            for each in self.recorded
        ]
        insert_many(self._connection, _INSERT, rows)
        if self._erased:
            execute_many(self._connection, _ERASE, [(position,) for position in self._erased])
        self.control.flush()
        if self._after.position == 0:
            execute(self._connection, _FIRST_HEAD, (1, *_pair(self.head)))
        elif self.recorded:
            execute(self._connection, _NEXT_HEAD, _pair(self.head))

    @property
    def erases(self) -> bool:
        """Whether private values go with its commit."""
        return bool(self._erased)

    def committed(self) -> None:
        """Let what was pending count as committed."""
        self._committed.update(self._pending)
        self.control.committed()


class Tx:
    """What one unit of work sees and does; it ends with the unit.

    Attributes:
        now: The stamp of the unit's events (UTC microseconds).
        control: The rows that commit with the events, with what is pending.
    """

    def __init__(self, batch: Batch, now: int) -> None:
        self.now = now
        self._batch: Batch | None = batch

    @property
    def control(self) -> Materializer:
        """The rows that commit with the events."""
        return self._live().control

    def append(
        self,
        stream: str,
        expected: Expected,
        events: Sequence[Event],
        *,
        actor: str,
        generation: int | None = None,
        command: str | None = None,
    ) -> Appended:
        """Append events to a stream, all or none.

        Args:
            stream: The stream.
            expected: The version the stream must be at, `NEW` or `ANY`.
            events: What happened, in order.
            actor: Who caused it.
            generation: The claim generation it is written under.
            command: The command's key; never private.

        Returns:
            Where they will stand once the commit went through.

        Raises:
            WrongExpectedVersion: The stream is at another version; nothing was changed.
            ValueRefused: A text or a value cannot be stored.
            PayloadTooLarge: A value is over its limit.
        """
        batch = self._live()
        check_stream(stream)
        check_actor(actor)
        check_command(command)
        check_generation(generation)
        actual = batch.version(stream)
        if expected is not ANY:
            wanted = 0 if expected is NEW else expected
            if wanted != actual:
                raise WrongExpectedVersion(stream, int(wanted), actual)
        first = batch.position + 1
        batch.append(stream, actual, events, self.now, actor, generation, command)
        return Appended(first, first + len(events) - 1, actual + len(events))

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Have several appends count as one: where one is refused, none of them was made."""
        batch = self._live()
        mark = batch.mark()
        try:
            yield
        except BaseException:
            batch.undo(mark)
            raise

    def version(self, stream: str) -> int:
        """Answer a stream's version with what is pending, 0 where it has no events."""
        return self._live().version(stream)

    def event(self, position: int) -> RecordedEvent | None:
        """Answer an event, committed or pending in this transaction."""
        return self._live().event(position)

    def erase(self, positions: Sequence[int]) -> None:
        """Erase the private values at these positions with this commit.

        Raises:
            ValueRefused: A position is not in the log, or its stream is never erased.
        """
        self._live().erase(positions)

    def end(self) -> None:
        """End it: a unit that kept it hears so."""
        self._batch = None

    def _live(self) -> Batch:
        if self._batch is None:
            raise NestedTransaction
        return self._batch


def read_head(connection: sqlalchemy.Connection) -> Head | None:
    """Answer the head row, or ``None`` for a log without events."""
    rows = execute(connection, _HEAD)
    return Head(*rows[0]) if rows else None


def _pair(head: Head) -> tuple[int, bytes]:
    return head.position, head.hash
