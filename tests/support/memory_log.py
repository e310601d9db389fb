"""A log in memory: units run at once, rows are folded by the same projections, nothing is written anywhere."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from attrs import evolve

from runwright.eventstore.codec import encode_event
from runwright.eventstore.envelope import ANY, NEW, Appended, Expected, Head, RecordedEvent
from runwright.eventstore.errors import WrongExpectedVersion
from runwright.eventstore.events.event import Event
from runwright.projections.control.registry import CONTROL
from runwright.projections.rows import MemoryRows

T = TypeVar("T")


class MemoryLog:
    """What transitions ask of a log and of its transactions."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self.control = MemoryRows(CONTROL)
        self.recorded: list[RecordedEvent] = []
        self._versions: dict[str, int] = {}
        self._clock = clock

    @property
    def now(self) -> int:
        """The stamp of the unit that runs."""
        return self._clock()

    def transact(self, unit: Callable[["MemoryLog"], T], *, urgent: bool = False) -> "Future[T]":
        """Run a unit at once."""
        answer: Future[T] = Future()
        answer.set_result(unit(self))
        return answer

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
        """Append events to a stream; what cannot be encoded is refused before anything changes."""
        version = self.version(stream)
        if expected is not ANY and (0 if expected is NEW else expected) != version:
            raise WrongExpectedVersion(stream, -1, version)
        texts = [encode_event(event) for event in events]
        first = len(self.recorded) + 1
        for event, (data, body) in zip(events, texts, strict=True):
            version += 1
            recorded = RecordedEvent(
                position=len(self.recorded) + 1,
                stream=stream,
                version=version,
                type=event.type,
                at=self.now,
                actor=actor,
                generation=generation,
                command=command,
                data=data,
                digest=None if body is None else b"digest",
                hash=b"hash",
                salt=None if body is None else b"salt",
                body=body,
                event=event,
            )
            self.recorded.append(recorded)
            self._versions[stream] = version
            self.control.apply(recorded)
        return Appended(first, len(self.recorded), version)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Have several appends count as one: where one is refused, none of them was made."""
        recorded, versions = len(self.recorded), dict(self._versions)
        tables: list[tuple[Any, dict[Any, Any]]] = [
            (self.control.table(each), dict(self.control.table(each))) for each in CONTROL
        ]
        try:
            yield
        except BaseException:
            del self.recorded[recorded:]
            self._versions = versions
            for table, before in tables:
                table.clear()
                table.update(before)
            raise

    def version(self, stream: str) -> int:
        """Answer a stream's version."""
        return self._versions.get(stream, 0)

    def event(self, position: int) -> RecordedEvent | None:
        """Answer the event at a position."""
        return self.recorded[position - 1] if 0 < position <= len(self.recorded) else None

    def erase(self, positions: Sequence[int]) -> None:
        """Erase private values."""
        for position in positions:
            found = self.recorded[position - 1]
            self.recorded[position - 1] = evolve(found, salt=None, body=None, event=None)

    def read(self, stream: str) -> Iterator[RecordedEvent]:
        """Read a stream."""
        return (each for each in self.recorded if each.stream == stream)

    def head(self) -> Head:
        """Answer the last position."""
        return Head(len(self.recorded), b"")
