"""The control rows of the writer: evolved in memory with each unit, written once with each commit."""

from collections.abc import Iterable
from typing import Any, TypeVar

import sqlalchemy

from runwright.eventstore.database import Statement, execute, execute_many
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.inserting import insert_many
from runwright.projections.control.registry import CONTROL
from runwright.projections.held import Held
from runwright.projections.projection import Index, Key, Projection, Scalar, run_of
from runwright.projections.rows import listeners
from runwright.projections.statements import statements_of

RowT = TypeVar("RowT")

#: Rows of one projection that are remembered between commits.
CACHED_ROWS = 4096

_MISSING: Any = object()


class ControlRows:
    """Rows for decisions, and the log's `Materializer`.

    A row is looked for in the overlay of this transaction, in the cache of committed rows, in the table. The
    overlay takes the cache's place for what it holds, and returns to it when the commit went through, so that
    nothing uncommitted is ever remembered. Any error drops both. All rows of a run follow from its own stream, so of
    a run whose stream began here, and that is remembered as a whole, no table is asked for a row that is not known.

    Args:
        projections: What to keep; the control projections.
        cached: How many rows of each are remembered between commits.
    """

    def __init__(self, projections: Iterable[Projection[Any]] = CONTROL, *, cached: int = CACHED_ROWS) -> None:
        self.projections = tuple(projections)
        #: Runs whose stream began here and of whose rows none was let go since: what is not remembered is not there.
        self._whole: set[str | int] = set()
        self._tables = {each.name: _Table(each, cached, self._whole) for each in self.projections}
        self._plans = {
            event_type: tuple((self._tables[each.name], each.key, each.evolver(event_type)) for each in found)
            for event_type, found in listeners(self.projections).items()
        }
        self._undo: list[tuple[_Table, Key, Any, list[tuple[Any, ...]]]] = []
        self._failed: Exception | None = None

    def attach(self, connection: sqlalchemy.Connection) -> None:
        """Take the writer's connection, a new one after trouble; forget whatever was remembered."""
        self.discard()
        for table in self._tables.values():
            table.connection = connection

    def apply(self, recorded: RecordedEvent) -> None:
        """Evolve the rows that an event touches.

        Raises:
            ImpossibleEvent: It does not fit one of them; what others took of it is taken back by `undo`.
        """
        if recorded.version == 1 and recorded.stream.startswith("run/"):
            self._whole.add(run_of(recorded))
        for table, key_of, evolve in self._plans.get(recorded.type, ()):
            key = key_of(recorded)
            if key is None:
                continue
            before = table.get(key)
            after = evolve(before, recorded)
            if after is not before:
                moves = table.held.move(key, before, after, recorded) if table.guarded else _NO_MOVES
                table.put(key, before, after)
                self._undo.append((table, key, before, moves))

    def get(self, projection: Projection[RowT], *key: str | int) -> RowT | None:
        """Answer the row under a key, or ``None``."""
        row: RowT | None = self._tables[projection.name].get(key)
        return row

    def find(self, projection: Projection[RowT], **equals: Scalar) -> list[RowT]:
        """Answer the rows with these values, in the order of their keys.

        What is pending for that projection is written first: a set is read from the table.
        """
        return self._written(projection).find(equals)

    def first(self, projection: Projection[RowT], by: str, most: int, /, **equals: Scalar) -> list[RowT]:
        """Answer the first rows with these values in the order of a column, however many there are."""
        return self._written(projection).first(by, most, equals)

    def count(self, projection: Projection[Any], most: int, /, **equals: Scalar) -> int:
        """Answer how many rows have these values; where there are more than ``most``, that many."""
        return self._written(projection).count(most, equals)

    def _written(self, projection: Projection[Any]) -> "_Table":
        """A projection's table, with what was pending in it."""
        if self._failed is not None:
            raise self._failed
        table = self._tables[projection.name]
        try:
            table.flush()
        except Exception as error:
            # Whatever a unit makes of this, the transaction is not to be committed.
            self._failed = error
            raise
        return table

    def changed(self, projection: Projection[RowT]) -> dict[Key, RowT | None]:
        """Answer the rows that differ from the table, ``None`` for those that are gone."""
        return self._tables[projection.name].changed()

    def mark(self) -> int:
        """Answer a mark of the present state, for `undo`."""
        return len(self._undo)

    def undo(self, mark: int) -> None:
        """Go back to a mark."""
        undo = self._undo
        while len(undo) > mark:
            table, key, before, moves = undo.pop()
            table.take_back(key, before)
            Held.undo(moves)

    def flush(self) -> None:
        """Write what is pending, per projection."""
        if self._failed is not None:
            raise self._failed
        for table in self._tables.values():
            table.flush()

    def committed(self) -> None:
        """Learn that what was flushed is durable: from now on it may be remembered."""
        self._undo.clear()
        self._failed = None
        for table in self._tables.values():
            table.committed()

    def discard(self) -> None:
        """Forget what is pending and whatever was remembered."""
        self._undo.clear()
        self._failed = None
        self._whole.clear()
        for table in self._tables.values():
            table.discard()


_NO_MOVES: list[tuple[Any, ...]] = []


class _Table:
    """The rows of one projection, as the writer sees them."""

    def __init__(self, projection: Projection[Any], cached: int, whole: set[str | int]) -> None:
        self.projection = projection
        self.connection: sqlalchemy.Connection | None = None
        self.held = Held(projection, self._holder)
        self.guarded = self.held.watches
        self._statements = statements_of(projection)
        self._cached = cached
        self._whole = whole
        # A user's view may take its rows of a run from anywhere.
        self._of_run = projection in CONTROL and projection.key_columns[0] == "run_id"
        #: Committed rows, the longest unused first.
        self._cache: dict[Key, Any] = {}
        #: What this transaction read or made; ``None`` where there is no row.
        self._overlay: dict[Key, Any] = {}
        #: Of changed rows, what the table holds now.
        self._stored: dict[Key, Any] = {}
        #: Keys that may differ between overlay and table, in the order of their change.
        self._touched: dict[Key, None] = {}

    def get(self, key: Key) -> Any:
        row = self._overlay.get(key, _MISSING)
        if row is not _MISSING:
            return row
        row = self._cache.pop(key, _MISSING)
        if row is _MISSING and self._of_run and key[0] in self._whole:
            row = None
        elif row is _MISSING:
            found = execute(self._live(), self._statements.select, key)
            row = self._statements.load(found[0]) if found else None
        self._overlay[key] = row
        return row

    def put(self, key: Key, before: Any, after: Any) -> None:
        self._stored.setdefault(key, before)
        self._overlay[key] = after
        self._touched[key] = None

    def changed(self) -> dict[Key, Any]:
        return {key: self._overlay[key] for key in self._touched}

    def take_back(self, key: Key, before: Any) -> None:
        if before is None and self._of_run:
            self._whole.discard(key[0])
        self._overlay[key] = before
        self._touched[key] = None  # a set query may have written it in between

    def find(self, equals: dict[str, Scalar]) -> list[Any]:
        return self._found(*self._statements.find(equals))

    def first(self, by: str, most: int, equals: dict[str, Scalar]) -> list[Any]:
        return self._found(*self._statements.first(by, most, equals))

    def count(self, most: int, equals: dict[str, Scalar]) -> int:
        statement, values = self._statements.count(most, equals)
        return int(execute(self._live(), statement, values)[0][0])

    def _found(self, statement: Statement, values: tuple[Scalar, ...]) -> list[Any]:
        found = [self._statements.load(each) for each in execute(self._live(), statement, values)]
        return [self._overlay.setdefault(self._statements.key_of(row), row) for row in found]

    def flush(self) -> None:
        """Write deletions, then rows that hold nothing, then the rest; what changes hands is let go first."""
        if not self._touched:
            return
        gone: list[Key] = []
        idle: list[Any] = []
        holding: list[Any] = []
        for key in self._touched:
            row, stored = self._overlay[key], self._stored[key]
            if row is stored:
                continue
            if row is None or self._lets_go(stored, row):
                gone.append(key)
            if row is not None:
                (holding if self.projection.holds(row) else idle).append(self._statements.values(row))
            self._stored[key] = row
        self._touched.clear()
        if gone:
            execute_many(self._live(), self._statements.delete, gone)
        if idle or holding:
            insert_many(self._live(), self._statements.upsert, idle + holding)

    def committed(self) -> None:
        if not self._overlay:
            return
        for key, row in self._overlay.items():
            self._cache.pop(key, None)  # a set query may have put a row beside the one that is remembered
            if row is not None:
                self._cache[key] = row
        while len(self._cache) > self._cached:
            self._let_go(next(iter(self._cache)))
        self._forget()

    def _let_go(self, key: Key) -> None:
        del self._cache[key]
        if self._of_run:
            self._whole.discard(key[0])

    def discard(self) -> None:
        self._cache.clear()
        self._forget()

    def _forget(self) -> None:
        self._overlay.clear()
        self._stored.clear()
        self._touched.clear()
        self.held.forget()

    def _lets_go(self, stored: Any, row: Any) -> bool:
        """Tell whether a row goes on holding, but something else than the table has it hold."""
        if stored is None:
            return False
        return any(
            (old := guard.held_by(stored)) is not None and guard.held_by(row) not in (old, None)
            for guard in self.projection.guards
        )

    def _holder(self, guard: Index, value: Any) -> Key | None:
        values = value if isinstance(value, tuple) else (value,)
        for key in execute(self._live(), self._statements.holder(guard), values):
            row = self._overlay.get(key, _MISSING)
            if row is _MISSING or (row is not None and guard.held_by(row) == value):
                return key
        return None

    def _live(self) -> sqlalchemy.Connection:
        assert self.connection is not None, "the writer attaches its connection first"
        return self.connection
