"""What a projection is: a table of rows that follow from events by one pure function."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, NoReturn, TypeAlias, TypeVar

from attrs import field, frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.event import Event
from runwright.projections.errors import ImpossibleEvent

RowT = TypeVar("RowT")
HandlerT = TypeVar("HandlerT", bound=Callable[..., Any])
Scalar: TypeAlias = str | int | bool | float | bytes | None
Key: TypeAlias = tuple[str | int, ...]
#: Answers a row after an event.
Evolver: TypeAlias = Callable[[RowT | None, RecordedEvent], RowT | None]

_RULE = "__projection_rule__"
_BEGINS, _CHANGES, _FOLLOWS = "begins", "changes", "follows"


def begins(*events: type[Event]) -> Callable[[HandlerT], HandlerT]:
    """Let a method ``(event, recorded) -> row`` make a row where there must be none."""
    return _rule(_BEGINS, events)


def changes(*events: type[Event]) -> Callable[[HandlerT], HandlerT]:
    """Let a method ``(row, event, recorded) -> row | None`` change a row that must be there."""
    return _rule(_CHANGES, events)


def follows(*events: type[Event]) -> Callable[[HandlerT], HandlerT]:
    """Let a method ``(row | None, event, recorded) -> row | None`` take whatever is there."""
    return _rule(_FOLLOWS, events)


def _rule(rule: str, events: tuple[type[Event], ...]) -> Callable[[HandlerT], HandlerT]:
    def mark(handler: HandlerT) -> HandlerT:
        setattr(handler, _RULE, (rule, events))
        return handler

    return mark


@frozen(kw_only=True)
class Index:
    """An index of a projection's table, in the database and in memory alike.

    Attributes:
        columns: What is looked up.
        where: The rows it covers: a column and the values it may have there. All rows when empty.
        unique: Whether only one of the covered rows may have the same values: it *holds* them.
        lasting: Whether a row that holds keeps holding the same for ever (then the database alone guards it).
    """

    columns: tuple[str, ...]
    where: Mapping[str, tuple[Scalar, ...]] = field(factory=dict)
    unique: bool = False
    lasting: bool = False
    #: Answers what a row holds here, or ``None`` when the index does not cover it.
    held_by: Callable[[Any], Any] = field(init=False, eq=False, repr=False)

    @held_by.default
    def _write_held_by(self) -> Callable[[Any], Any]:
        """Write the function out, once: it is called for every row that changes."""
        held = ", ".join(f"row.{column}" for column in self.columns)
        tests = " and ".join(f"row.{column} in {tuple(allowed)!r}" for column, allowed in self.where.items())
        values = held if len(self.columns) == 1 else f"({held})"
        # The text holds nothing but names and constants of a class that stands in the program.
        written: Callable[[Any], Any] = eval(f"lambda row: {values} if {tests or 'True'} else None")  # noqa: S307
        return written


class Projection(Generic[RowT]):
    """The parent of every projection.

    A subclass names its table and says with `begins`, `changes` and `follows` which method answers to which
    event. An event touches at most one row of a projection, the one under `key`, which follows from the event
    alone. Methods are pure and raise `ImpossibleEvent` (through `refuse`) when the event does not fit the row.

    Attributes:
        name: The table's name.
        row: The row class: frozen attrs, one field per column.
        key_columns: The columns of the primary key.
        indexes: Further indexes.
        hidden: Columns that no query shows (process identities, token hashes).
        version: Raised when the methods make something else of the same events; a view is then refilled.
        listens: The names of the event types it answers to.
    """

    name: ClassVar[str]
    row: type[RowT]
    key_columns: ClassVar[tuple[str, ...]]
    indexes: ClassVar[tuple[Index, ...]] = ()
    hidden: ClassVar[frozenset[str]] = frozenset()
    version: ClassVar[int] = 1

    def __init__(self) -> None:
        self._evolvers: dict[str, Evolver[RowT]] = {}
        for each in reversed(type(self).__mro__):
            for attribute in vars(each).values():
                marked: tuple[str, tuple[type[Event], ...]] | None = getattr(attribute, _RULE, None)
                if marked is not None:
                    evolver = self._evolver(marked[0], attribute.__get__(self))
                    self._evolvers.update({event.type: evolver for event in marked[1]})
        self.listens: frozenset[str] = frozenset(self._evolvers)
        self.guards: tuple[Index, ...] = tuple(each for each in self.indexes if each.unique)

    def key(self, recorded: RecordedEvent) -> Key | None:
        """Answer which row an event touches: the values of `key_columns`, or ``None`` for no row."""
        return (recorded.stream[4:],)  # `run_of`, written out: it is asked for each event of each run

    def evolve(self, row: RowT | None, recorded: RecordedEvent) -> RowT | None:
        """Answer the row after an event.

        Args:
            row: The row before it, or ``None`` where there is none.
            recorded: The event, one of those in `listens`.

        Returns:
            The row after it, or ``None`` where there is none any more.

        Raises:
            ImpossibleEvent: The event does not fit the row.
        """
        return self._evolvers[recorded.type](row, recorded)

    def evolver(self, event_type: str) -> "Evolver[RowT]":
        """Answer what `evolve` does with events of one type: a fold asks once, not for each event."""
        return self._evolvers[event_type] if type(self).evolve is Projection.evolve else self.evolve

    def _evolver(self, rule: str, handler: Callable[..., RowT | None]) -> "Evolver[RowT]":
        def begin(row: RowT | None, recorded: RecordedEvent) -> RowT | None:
            if row is not None:
                self.refuse(recorded, "there is such a row already")
            return handler(recorded.event, recorded)

        def change(row: RowT | None, recorded: RecordedEvent) -> RowT | None:
            if row is None:
                self.refuse(recorded, "there is no such row")
            return handler(row, recorded.event, recorded)

        def follow(row: RowT | None, recorded: RecordedEvent) -> RowT | None:
            return handler(row, recorded.event, recorded)

        return {_BEGINS: begin, _CHANGES: change, _FOLLOWS: follow}[rule]

    def holds(self, row: RowT) -> bool:
        """Tell whether a row holds something that only one row may hold."""
        return any(guard.held_by(row) is not None for guard in self.guards)

    def row_key(self, row: RowT) -> Key:
        """Answer the key of a row."""
        return tuple(getattr(row, column) for column in self.key_columns)

    def refuse(self, recorded: RecordedEvent, why: str) -> NoReturn:
        """Raise `ImpossibleEvent`; ``why`` holds no private value."""
        raise ImpossibleEvent(self.name, recorded.type, recorded.position, why)


def run_of(recorded: RecordedEvent) -> str:
    """Answer the run whose stream an event stands in."""
    return recorded.stream[4:]  # after "run/"
