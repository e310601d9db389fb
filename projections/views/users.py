"""A projection that a program registered: tried before it is kept as a view, and held to its own row at each event."""

import math
from functools import cache
from typing import Any

from runwright.eventstore.envelope import RecordedEvent
from runwright.projections.errors import ProjectionInvalid
from runwright.projections.projection import Evolver, Key, Projection
from runwright.projections.query import describe
from runwright.projections.replace import field_types
from runwright.projections.rows import MemoryRows
from runwright.projections.views.store import layout_of

#: What a projection declares beside its functions.
_DECLARED = ("name", "row", "key_columns", "indexes", "hidden", "version", "__doc__")


class UsersView(Projection[Any]):
    """A program's projection, whose answers are checked: tables, memory and JSON shall hold the same rows.

    Args:
        theirs: The projection.
    """

    def __init__(self, theirs: Projection[Any]) -> None:
        super().__init__()
        self._theirs = theirs
        self._types = field_types(theirs.row)
        self.listens = theirs.listens

    def key(self, recorded: RecordedEvent) -> Key | None:
        """Answer which row an event touches, as the program's projection has it."""
        try:
            found = self._theirs.key(recorded)
        except SystemExit:
            self.refuse(recorded, "it raised SystemExit")
        if found is None:
            return None
        columns = len(self.key_columns)
        if not (
            isinstance(found, tuple) and len(found) == columns and all(isinstance(each, str | int) for each in found)
        ):
            self.refuse(recorded, f"its key is no tuple of {columns} texts or whole numbers")
        return found

    def evolve(self, row: Any, recorded: RecordedEvent) -> Any:
        """Answer the row after an event."""
        return self.evolver(recorded.type)(row, recorded)

    def evolver(self, event_type: str) -> Evolver[Any]:
        """Answer what `evolve` does with events of one type."""
        theirs = self._theirs.evolver(event_type)

        def evolve(row: Any, recorded: RecordedEvent) -> Any:
            try:
                after = theirs(row, recorded)
            except SystemExit:
                self.refuse(recorded, "it raised SystemExit")
            if after is not None and after is not row:
                self._check(after, recorded)
            return after

        return evolve

    def _check(self, row: Any, recorded: RecordedEvent) -> None:
        if not isinstance(row, self.row):
            self.refuse(recorded, f"it answered a {type(row).__name__} and no {self.row.__name__}")
        for name, (kind, nullable) in self._types.items():
            value = getattr(row, name)
            if not (nullable if value is None else _holds(kind, value)):
                self.refuse(recorded, f"its field {name} holds what no column of {kind.__name__} can")
        if self.row_key(row) != self.key(recorded):
            self.refuse(recorded, "its row has another key than its event")


def _holds(kind: type, value: object) -> bool:
    """Whether a column holds a value, and JSON too: SQLite takes infinity, and NaN for no value."""
    match value:
        case int() if kind is int or kind is float:
            return -(2**63) <= value < 2**63
        case float():
            return kind is float and math.isfinite(value)
        case str():
            return kind is str and not any("\ud800" <= each <= "\udfff" for each in value)
        case _:
            return isinstance(value, kind)


@cache
def users_view(loaded: object) -> Projection[Any]:
    """Make a view of what an entry point names, once, so that its statements are compiled once.

    Args:
        loaded: A projection or its class.

    Raises:
        ProjectionInvalid: It cannot be kept as a view. Whatever its own code raises comes out as it is.
    """
    theirs = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(theirs, Projection):
        raise ProjectionInvalid(type(theirs).__name__, "it is no Projection")
    check_view(theirs)
    declared = {name: getattr(theirs, name) for name in _DECLARED}
    view: Projection[Any] = type(type(theirs).__name__, (UsersView,), declared)(theirs)
    # All that is ever asked of it without an event: better now, by name, than in the middle of somebody's question.
    describe(view)
    layout_of(view, "")
    MemoryRows((view,))
    return view


def check_view(projection: Projection[Any]) -> None:
    """Check that a projection can be kept as a view.

    Raises:
        ProjectionInvalid: It cannot.
    """
    name = getattr(projection, "name", None)
    if not isinstance(name, str) or not name.isidentifier():
        raise ProjectionInvalid(str(name), "its name is not one that a table can have")
    try:
        types = field_types(projection.row)
    except (AttributeError, NameError, TypeError):
        raise ProjectionInvalid(name, "its row is no attrs class of plain fields") from None
    columns = {*projection.key_columns, *(each for index in projection.indexes for each in index.columns)}
    if not projection.key_columns or not columns <= types.keys():
        raise ProjectionInvalid(name, "its key columns and indexes do not name fields of its row")
    if not isinstance(projection.version, int):
        raise ProjectionInvalid(name, "its version is no whole number")
