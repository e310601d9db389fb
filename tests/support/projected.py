"""A store with the product's whole layout, and runs told into it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from runwright.eventstore.envelope import ANY
from runwright.eventstore.events.event import Event
from runwright.eventstore.log import EventLog
from runwright.eventstore.transaction import Tx
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT
from support.told import START, Told


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
