"""Sets of rows: one small interface, over tables and in memory."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

from runwright.eventstore.envelope import RecordedEvent
from runwright.projections.held import Held
from runwright.projections.projection import Key, Projection, Scalar

RowT = TypeVar("RowT")


class Rows(Protocol):
    """What a decision reads: rows by key, and sets of rows by equal values."""

    def get(self, projection: Projection[RowT], *key: str | int) -> RowT | None:
        """Answer the row under a key, or ``None``."""
        ...

    def find(self, projection: Projection[RowT], **equals: Scalar) -> list[RowT]:
        """Answer the rows with these values, in the order of their keys."""
        ...

    def first(self, projection: Projection[RowT], by: str, most: int, /, **equals: Scalar) -> list[RowT]:
        """Answer the first rows with these values in the order of a column, however many there are."""
        ...

    def count(self, projection: Projection[Any], most: int, /, **equals: Scalar) -> int:
        """Answer how many rows have these values; where there are more than ``most``, that many."""
        ...


class MemoryRows:
    """Rows in memory, for replay, verify and tests.

    Args:
        projections: The projections to fold.
        remember: Whether to remember which event touched each row last.

    Attributes:
        projections: The projections.
        position: The position of the last event that was applied.
    """

    def __init__(self, projections: Iterable[Projection[Any]], *, remember: bool = False) -> None:
        self.projections = tuple(projections)
        self.position = 0
        self._tables: dict[str, dict[Key, Any]] = {each.name: {} for each in self.projections}
        self._touched: dict[tuple[str, Key], tuple[int, str]] | None = {} if remember else None
        held = {each.name: Held(each) for each in self.projections}
        watched = {name: each if each.watches else None for name, each in held.items()}
        self._plans = {
            event_type: tuple(
                (each.name, each.key, each.evolver(event_type), self._tables[each.name], watched[each.name])
                for each in found
            )
            for event_type, found in listeners(self.projections).items()
        }

    def apply(self, recorded: RecordedEvent) -> None:
        """Evolve every row that the event touches, or none.

        Raises:
            ImpossibleEvent: The event does not fit one of them.
            UnknownEvent: No version that this one knows wrote it.
        """
        self.apply_all((recorded,))

    def apply_all(self, events: Iterable[RecordedEvent]) -> None:
        """Apply events in order, up to the first that does not fit; of that one nothing is taken.

        Raises:
            ImpossibleEvent: An event does not fit the rows before it.
        """
        plans, touched = self._plans, self._touched
        done: list[tuple[dict[Key, Any], Key, Any, list[tuple[Any, ...]]]] = []
        try:
            for recorded in events:
                plan = plans.get(recorded.type)
                if plan is None:
                    # Nobody listens: then at least it is known, and what a newer version wrote is not passed over.
                    _ = recorded.event
                    plan = ()
                for name, key_of, evolve, table, held in plan:
                    key = key_of(recorded)
                    if key is None:
                        continue
                    if touched is not None:
                        touched[name, key] = (recorded.position, recorded.type)
                    before = table.get(key)
                    after = evolve(before, recorded)
                    if after is before:
                        continue
                    moves = _NO_MOVES if held is None else held.move(key, before, after, recorded)
                    if after is None:
                        del table[key]
                    else:
                        table[key] = after
                    done.append((table, key, before, moves))
                self.position = recorded.position
                done.clear()
        except BaseException:
            for table, key, before, moves in reversed(done):
                _put(table, key, before)
                Held.undo(moves)
            raise

    def get(self, projection: Projection[RowT], *key: str | int) -> RowT | None:
        """Answer the row under a key, or ``None``."""
        row: RowT | None = self._tables[projection.name].get(key)
        return row

    def find(self, projection: Projection[RowT], **equals: Scalar) -> list[RowT]:
        """Answer the rows with these values, in the order of their keys."""
        found = (
            (key, row)
            for key, row in self._tables[projection.name].items()
            if all(getattr(row, column) == value for column, value in equals.items())
        )
        return [row for _, row in sorted(found, key=lambda each: each[0])]

    def first(self, projection: Projection[RowT], by: str, most: int, /, **equals: Scalar) -> list[RowT]:
        """Answer the first rows with these values in the order of a column, however many there are."""
        return sorted(self.find(projection, **equals), key=lambda row: getattr(row, by))[:most]

    def count(self, projection: Projection[Any], most: int, /, **equals: Scalar) -> int:
        """Answer how many rows have these values; where there are more than ``most``, that many."""
        return min(most, len(self.find(projection, **equals)))

    def table(self, projection: Projection[RowT]) -> Mapping[Key, RowT]:
        """Answer all rows of a projection by key."""
        return self._tables[projection.name]

    def touched(self, projection: Projection[Any], key: Key) -> tuple[int, str] | None:
        """Answer position and type of the event that touched a row last, if that was remembered."""
        return None if self._touched is None else self._touched.get((projection.name, key))


_NO_MOVES: list[tuple[Any, ...]] = []


def _put(table: dict[Key, Any], key: Key, row: Any) -> None:
    if row is None:
        table.pop(key, None)
    else:
        table[key] = row


def listeners(projections: Iterable[Projection[Any]]) -> dict[str, tuple[Projection[Any], ...]]:
    """Tell for each event type which projections answer to it."""
    found: dict[str, tuple[Projection[Any], ...]] = {}
    for each in projections:
        for event_type in each.listens:
            found[event_type] = (*found.get(event_type, ()), each)
    return found
