"""Opens what a command needs, and no more: a reader beside whoever holds the store, or the store itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runwright.cli.invocation import Invocation

if TYPE_CHECKING:  # SQLAlchemy takes 200 ms to import; only what opens a store pays for it
    from runwright.engine.reading.reader import Reader
    from runwright.eventstore.reader import LogReader


@contextmanager
def reading(call: Invocation) -> "Iterator[Reader]":
    """Open the store for questions; no lock is taken and nothing is changed."""
    from runwright.engine.reading.reader import Reader

    with Reader.open(call.home, call.specs) as store:
        yield store


@contextmanager
def reading_if_any(call: Invocation) -> "Iterator[Reader | None]":
    """The same, and ``None`` where nothing was ever started: what lists runs then lists none."""
    from runwright.engine.reading.reader import Reader
    from runwright.eventstore.errors import StoreMissing

    try:
        store = Reader.open(call.home, call.specs)
    except StoreMissing:
        yield None
        return
    with store:
        yield store


@contextmanager
def reading_events(call: Invocation) -> "Iterator[LogReader]":
    """Open the table of events alone, so that a store of another layout can be read, too."""
    from runwright.eventstore.reader import LogReader

    with LogReader.open(call.home) as log:
        yield log
