"""A store with the product's whole layout, and runs told into it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TypeVar

from runwright.eventstore.envelope import ANY
from runwright.eventstore.events.event import Event
from runwright.eventstore.log import EventLog
from runwright.eventstore.reader import LogReader
from runwright.eventstore.transaction import Tx
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT
from runwright.projections.projection import Key, Projection
from runwright.projections.views import reading
from support.told import START, Told

RowT = TypeVar("RowT")


@contextmanager
def held(home: Path) -> Iterator[EventLog]:
    """Hold a store for a block; its clock ticks with each unit."""
    ticks = count(START)
    log = EventLog.open(home, layout=LAYOUT, control=ControlRows(), clock=lambda: next(ticks))
    try:
        yield log
    finally:
        log.close()


def tell(log: EventLog, told: Iterable[Told], *, together: int = 1) -> None:
    """Append events, so many in each unit."""
    waiting = list(told)
    while waiting:
        unit, waiting = waiting[:together], waiting[together:]

        def append(tx: Tx, unit: list[tuple[str, Event]] = unit) -> None:
            for stream, event in unit:
                tx.append(stream, ANY, [event], actor="operator")

        log.transact(append).result()


def view_rows(log: LogReader, projection: Projection[RowT]) -> tuple[dict[Key, RowT], int]:
    """All rows of a view by key, and the position that they stand at; found as a page of them is."""
    last = log.head().position
    with reading._file(log, projection) as (connection, cursor):
        if connection is None:
            return reading._folded(log, projection, last), last
        changed = reading._since(log, projection, connection, cursor, last)
        return reading._merged(connection, projection, changed), last
