"""A writer whose driver gets into trouble where a test wants it, and what must hold after it."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy

from runwright.eventstore import chain, connected
from runwright.eventstore.log import EventLog
from runwright.eventstore.transaction import Tx
from support.rows import counts


@contextmanager
def held(log: EventLog) -> Iterator[None]:
    """Keep the writer from taking anything until the block ends, so that what is submitted waits together."""
    reached, go = threading.Event(), threading.Event()

    def unit(tx: Tx) -> None:
        reached.set()
        assert go.wait(30)

    first = log.transact(unit)
    assert reached.wait(30)
    try:
        yield
    finally:
        go.set()
        first.result(30)


def rows(log: EventLog) -> dict[str, int]:
    """Answer the rows that commit with the events."""
    return dict(log.rows(sqlalchemy.select(counts)))


def check(log: EventLog) -> None:
    """Check that chain, head and rows agree, also by a second reader's eyes."""
    previous = chain.genesis(log.log_id)
    seen: dict[str, int] = {}
    for event in log.read_all():
        assert chain.hash_after(previous, event) == event.hash
        previous = event.hash
        seen[event.stream] = event.version
    assert log.head().hash == previous
    assert rows(log) == seen


class Driver:
    """Puts the writer's driver into trouble at a chosen statement."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commits = 0
        self.before: Callable[[sqlite3.Connection, str], None] = lambda connection, text: None
        self.after: Callable[[sqlite3.Connection, str], None] = lambda connection, text: None
        execute = sqlite3.Connection.execute

        def troubled(connection: sqlite3.Connection, text: str, *row: Any) -> sqlite3.Cursor:
            self.before(connection, text)
            cursor = execute(connection, text, *row)
            if text == "COMMIT":
                self.commits += 1
            self.after(connection, text)
            return cursor

        monkeypatch.setattr(connected.CountedConnection, "execute", troubled)


def broken(code: int) -> sqlite3.Error:
    """Make an error as the driver raises it, with a text that must not get out."""
    error = sqlite3.OperationalError("SECRET-MARKER")
    error.sqlite_errorcode = code
    return error


def once(
    trouble: Callable[[sqlite3.Connection], None], at: str = "COMMIT"
) -> Callable[[sqlite3.Connection, str], None]:
    """Answer a hook that makes trouble the first time a statement comes by."""
    left = [True]

    def hook(connection: sqlite3.Connection, text: str) -> None:
        if text == at and left:
            left.clear()
            trouble(connection)

    return hook


def raising(code: int) -> Callable[[sqlite3.Connection], None]:
    """Answer trouble that is an error of SQLite."""

    def trouble(connection: sqlite3.Connection) -> None:
        raise broken(code)

    return trouble
