"""Stores on disk with a little history, and the tools of somebody who edits them behind the triggers."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import sqlalchemy

from runwright.eventstore.envelope import ANY, Head, RecordedEvent
from runwright.eventstore.events.event import Event
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.table import EVENTS_LAYOUT
from runwright.eventstore.transaction import Tx
from runwright.eventstore.transfer.native import export_native
from support.chained import run_events

RUN_A = "01JZRUNA000000000000"
RUN_B = "01JZRUNB000000000000"


class NoRows:
    """A materializer that keeps no rows but counts the events it was given."""

    def __init__(self) -> None:
        self.applied: list[int] = []

    def attach(self, connection: sqlalchemy.Connection) -> None:
        """Take the connection."""

    def apply(self, recorded: RecordedEvent) -> None:
        """Remember the position."""
        self.applied.append(recorded.position)

    def mark(self) -> int:
        """Nothing to go back to."""
        return 0

    def undo(self, mark: int) -> None:
        """Nothing to undo."""

    def flush(self) -> None:
        """Nothing to write."""

    def committed(self) -> None:
        """Nothing to learn."""

    def discard(self) -> None:
        """Nothing to forget."""


def open_log(home: Path, **options: Any) -> EventLog:
    """Take a store whose layout is the events alone."""
    ticks = count(1_800_000_000_000_000)
    return EventLog.open(home, layout=EVENTS_LAYOUT, control=NoRows(), clock=lambda: next(ticks), **options)


def append(log: EventLog, steps: Sequence[tuple[str, Event]]) -> None:
    """Append events, each to its stream."""

    def unit(tx: Tx) -> None:
        for stream, event in steps:
            tx.append(stream, ANY, [event], actor="operator")

    log.transact(unit).result()


def make_store(home: Path, word: str = "canary") -> Head:
    """Make a closed store of two interleaved runs; answer its head."""
    with open_log(home) as log:
        for pair in zip(run_events(RUN_A, word), run_events(RUN_B, "other"), strict=True):
            append(log, pair)
        return log.head()


def export(home: Path, target: Path, **options: Any) -> Path:
    """Write a native export of a store."""
    with LogReader.open(home) as reader:
        target.write_bytes(b"".join(export_native(reader, **options)))
    return target


@contextmanager
def behind_the_triggers(home: Path) -> Iterator[sqlite3.Connection]:
    """Edit a closed store as somebody with a database shell would, triggers and constraints out of the way."""
    with closing(sqlite3.connect(home / "log.sqlite", isolation_level=None)) as shell:
        shell.execute("PRAGMA ignore_check_constraints=ON")
        triggers = shell.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            shell.execute(f"DROP TRIGGER {name}")
        yield shell
        for _, sql in triggers:
            shell.execute(sql)
        shell.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def tamper(home: Path, *statements: str) -> None:
    """Execute statements behind the triggers."""
    with behind_the_triggers(home) as shell:
        for statement in statements:
            shell.execute(statement)


def files_with(folder: Path, word: str) -> list[str]:
    """Name the files below a folder that hold a word anywhere in their bytes."""
    found = (path for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes())
    return sorted(path.name for path in found)


Change = Callable[[sqlite3.Connection], None]
