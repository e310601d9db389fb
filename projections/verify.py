"""Verify: the live control tables against a replay of the log; it never repairs."""

from collections.abc import Collection, Iterable
from typing import Any

import sqlalchemy
from attrs import frozen

from runwright.eventstore.database import execute, path_of
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.errors import EventUnreadable, StoreError, StoreLayoutDiffers
from runwright.eventstore.events.log import LogCreated
from runwright.eventstore.opening import check_layout
from runwright.eventstore.reader import LogReader
from runwright.eventstore.values import Json, JsonObject
from runwright.eventstore.verdict import Fault
from runwright.projections.control.registry import CONTROL
from runwright.projections.errors import ImpossibleEvent, UnknownProjection
from runwright.projections.layout import LAYOUT
from runwright.projections.projection import Key, Projection
from runwright.projections.replace import field_names
from runwright.projections.replay import replay_log
from runwright.projections.rows import MemoryRows
from runwright.projections.shown import shown_value
from runwright.projections.statements import statements_of


@frozen(kw_only=True)
class Difference:
    """One thing that the table says and the log does not.

    Attributes:
        projection: The projection.
        key: The row's key, by column.
        field: The field that differs; ``None`` where a whole row is missing or too much.
        live: What the table holds; ``None`` where it lacks the row.
        replayed: What follows from the log; ``None`` where no such row does.
        position: The last event that touched the row, or ``None`` when none ever did.
        event_type: That event's type.
    """

    projection: str
    key: JsonObject
    field: str | None
    live: Json
    replayed: Json
    position: int | None
    event_type: str | None


@frozen(kw_only=True)
class Verification:
    """What a verification found.

    Attributes:
        position: The position that tables and log were compared at.
        rows: How many rows follow from the log.
        differences: Every difference, in the order of projections and keys.
    """

    position: int
    rows: int
    differences: tuple[Difference, ...]

    @property
    def ok(self) -> bool:
        """Whether tables and log agree."""
        return not self.differences


def control_named(names: Collection[str] | None) -> tuple[Projection[Any], ...]:
    """Answer the control projections of these names, or all of them.

    Raises:
        UnknownProjection: There is none of that name.
    """
    known = {each.name: each for each in CONTROL}
    for name in names or ():
        if name not in known:
            raise UnknownProjection(name, known)
    return tuple(each for each in CONTROL if not names or each.name in names)


def verify(reader: LogReader, names: Collection[str] | None = None) -> Verification:
    """Compare the control tables, as of one moment, with what follows from the log.

    Args:
        reader: The log; beside a live holder too.
        names: Only these projections.

    Raises:
        UnknownProjection: There is no control projection of that name.
        ImpossibleEvent: The log itself cannot be folded.
    """
    projections = control_named(names)
    with reader.snapshot() as moment:
        position = moment.position()
        live = {each.name: _read(moment.connection, each) for each in projections}
    rows = replay_log(reader, position, remember=True) if position else MemoryRows(CONTROL)
    differences: list[Difference] = []
    for projection in projections:
        differences.extend(_compare(projection, live[projection.name], rows))
    count = sum(len(rows.table(each)) for each in projections)
    return Verification(position=position, rows=count, differences=tuple(differences))


def _read(connection: sqlalchemy.Connection, projection: Projection[Any]) -> dict[Key, Any]:
    statements = statements_of(projection)
    rows = (statements.load(each) for each in execute(connection, statements.everything))
    return {projection.row_key(row): row for row in rows}


def _compare(projection: Projection[Any], live: dict[Key, Any], rows: MemoryRows) -> Iterable[Difference]:
    replayed = rows.table(projection)
    for key in sorted({*live, *replayed}):
        stored, expected = live.get(key), replayed.get(key)
        if stored == expected:
            continue
        differs: list[str | None] = [None]
        if stored is not None and expected is not None:
            differs = [name for name in field_names(projection.row) if getattr(stored, name) != getattr(expected, name)]
        position, event_type = rows.touched(projection, key) or (None, None)
        for name in differs:
            yield Difference(
                projection=projection.name,
                key=dict(zip(projection.key_columns, _plain(projection, key), strict=True)),
                field=name,
                live=_value(projection, name, stored),
                replayed=_value(projection, name, expected),
                position=position,
                event_type=event_type,
            )


def _plain(projection: Projection[Any], key: Key) -> list[Json]:
    return [shown_value(projection, name, value) for name, value in zip(projection.key_columns, key, strict=True)]


def _value(projection: Projection[Any], field: str | None, row: Any) -> Json:
    if row is None:
        return None
    if field is not None:
        return shown_value(projection, field, getattr(row, field))
    return {name: shown_value(projection, name, getattr(row, name)) for name in field_names(projection.row)}


class ControlTables:
    """The control tables of one store, compared while its events are verified; see `verify_store`."""

    def __init__(self) -> None:
        self._live: dict[str, dict[Key, Any]] | None = None
        self._differs: str | None = None
        self._rows = MemoryRows(CONTROL, remember=True)
        self._fault: Fault | None = None

    def read(self, connection: sqlalchemy.Connection) -> None:
        """Take what the tables say; a store of another layout has others, which nothing is known about."""
        try:
            check_layout(path_of(connection), LAYOUT, connection)
        except StoreLayoutDiffers as error:
            self._differs = error.what
            return
        live: dict[str, dict[Key, Any]] = {}
        for each in CONTROL:
            try:
                live[each.name] = _read(connection, each)
            except StoreError:
                self._fault = Fault("row_differs", None, f"The rows of {each.name} cannot be read.")
                return
        self._live = live

    def saw(self, event: RecordedEvent) -> None:
        """Evolve the rows that follow from it."""
        if self._differs is not None and event.position == 1:
            self._fault = self._changed(event)
        if self._live is None or self._fault is not None:
            return
        try:
            self._rows.apply(event)
        except (ImpossibleEvent, EventUnreadable) as error:
            self._fault = Fault("row_differs", event.position, error.message)

    def fault(self) -> Fault | None:
        """Answer the first difference."""
        if self._live is None or self._fault is not None:
            return self._fault
        for projection in CONTROL:
            for each in _compare(projection, self._live[projection.name], self._rows):
                what = "A row" if each.field is None else f"The field {each.field}"
                detail = f"{what} of {projection.name} does not follow from the events: see `projections verify`."
                return Fault("row_differs", each.position, detail)
        return None

    def _changed(self, created: RecordedEvent) -> Fault | None:
        """Say of a layout that is not this version's whether it is another's, or was this one's when it was made."""
        try:
            event = created.event
        except EventUnreadable:
            return None
        if not isinstance(event, LogCreated) or event.layout != LAYOUT.digest:
            return None
        carried = "its events can be carried over by `log export --with-values` and `store import`"
        return Fault("row_differs", None, f"The store's layout was changed ({self._differs}); {carried}.")
