"""The table: its text is what the code describes, and it takes nothing but the next event."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from runwright.eventstore.table import EVENTS_LAYOUT, Layout, events, metadata

COLUMNS = [column.name for column in events.columns]
INSERT = f"INTO events VALUES ({', '.join('?' * len(COLUMNS))})"


def row(**changes: Any) -> list[Any]:
    """Answer a row that follows one event of its stream."""
    values: dict[str, Any] = {
        "position": 2,
        "stream": "run/a",
        "version": 2,
        "type": "run.input",
        "at": 1,
        "actor": "client:cli",
        "generation": None,
        "command": None,
        "data": "{}",
        "digest": b"d" * 32,
        "hash": b"h" * 32,
        "salt": b"s" * 16,
        "body": "{}",
    }
    return [(values | changes)[name] for name in COLUMNS]


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    """A store in memory with one event."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA recursive_triggers=ON")
        for statement in EVENTS_LAYOUT.statements:
            connection.execute(statement)
        connection.execute(f"INSERT {INSERT}", row(position=1, version=1))
        yield connection


def test_the_description_compiles_to_the_checked_in_text() -> None:
    """SQLAlchemy's tables and the text that makes and checks a store are the same."""
    described: list[str] = []
    for table in metadata.sorted_tables:
        described.append(str(CreateTable(table).compile(dialect=sqlite.dialect())))
        described.extend(str(CreateIndex(index).compile(dialect=sqlite.dialect())) for index in table.indexes)
    kept = [statement for statement in EVENTS_LAYOUT.statements if not statement.startswith("CREATE TRIGGER")]
    assert [" ".join(text.split()) for text in described] == [" ".join(statement.split()) for statement in kept]


def test_sqlite_keeps_each_statement_as_it_was_executed(database: sqlite3.Connection) -> None:
    """Which is why the layout can be compared literally."""
    kept = [text for (text,) in database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")]
    assert tuple(kept) == EVENTS_LAYOUT.statements


def test_a_layout_text_splits_into_statements() -> None:
    """Semicolons inside a trigger end nothing, and the digest follows the text."""
    layout = Layout.parse("-- note\n\nCREATE TABLE a (b);\n", "CREATE TRIGGER c DELETE ON a BEGIN\n SELECT 1;\nEND;\n")
    assert layout.statements == ("CREATE TABLE a (b)", "CREATE TRIGGER c DELETE ON a BEGIN\n SELECT 1;\nEND")
    assert layout.digest != EVENTS_LAYOUT.digest
    with pytest.raises(ValueError, match="within a statement"):
        Layout.parse("CREATE TABLE a (b)")


def test_the_next_event_goes_in(database: sqlite3.Connection) -> None:
    """The next position with the stream's next version, or version 1 of another stream."""
    database.execute(f"INSERT {INSERT}", row())
    database.execute(f"INSERT {INSERT}", row(position=3, stream="run/b", version=1))


@pytest.mark.parametrize("verb", ["INSERT", "INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE"])
@pytest.mark.parametrize(
    "change",
    [
        {"position": 1},
        {"position": 3},
        {"position": None},
        {"position": 0},
        {"position": -1},
        {"version": 1},
        {"version": 3},
        {"version": None},
        {"stream": "run/b"},
        {"stream": None},
        {"stream": ""},
        {"stream": "x" * 301},
        {"stream": "é" * 151},
        {"type": "x" * 65},
        {"actor": ""},
        {"actor": "é" * 101},
        {"command": ""},
        {"command": "x" * 201},
        {"data": ""},
        {"data": "x" * 65537},
        {"data": "é" * 32769},
        {"data": None},
        {"at": "noon"},
        {"generation": "one"},
        {"hash": b"h"},
        {"digest": b"d"},
        {"digest": None},
        {"salt": b"s"},
        {"salt": None},
        {"body": None},
    ],
)
def test_nothing_else_goes_in(database: sqlite3.Connection, verb: str, change: dict[str, Any]) -> None:
    """Gaps, repeats, NULLs, other types and lengths: the table stays as it was."""
    before = database.execute("SELECT * FROM events").fetchall()
    try:
        database.execute(f"{verb} {INSERT}", row(**change))
    except sqlite3.IntegrityError:
        pass
    else:
        assert verb == "INSERT OR IGNORE"
    assert database.execute("SELECT * FROM events").fetchall() == before


def test_nothing_is_deleted(database: sqlite3.Connection) -> None:
    """Not by name, and not all at once, where SQLite would otherwise take a short cut."""
    for statement in ("DELETE FROM events WHERE position = 1", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError):
            database.execute(statement)
    assert database.execute("SELECT count(*) FROM events").fetchone() == (1,)


def test_body_and_salt_can_be_erased(database: sqlite3.Connection) -> None:
    """Both at once; the digest stays."""
    database.execute("UPDATE events SET body = NULL, salt = NULL")
    assert database.execute("SELECT salt, body, digest FROM events").fetchone() == (None, None, b"d" * 32)


@pytest.mark.parametrize(
    "assignment",
    [
        "body = 'x'",
        "body = NULL",
        "salt = NULL",
        *(f"salt = NULL, body = NULL, {name} = NULL" for name in COLUMNS[:11] if name not in ("generation", "command")),
        "salt = NULL, body = NULL, generation = 1",
        "salt = NULL, body = NULL, command = 'x'",
        "salt = NULL, body = NULL, position = 5",
        "salt = NULL, body = NULL, hash = zeroblob(32)",
    ],
)
def test_nothing_else_is_changed(database: sqlite3.Connection, assignment: str) -> None:
    """Comparisons are by IS: a NULL does not slip through."""
    before = database.execute("SELECT * FROM events").fetchall()
    for verb in ("UPDATE", "UPDATE OR REPLACE"):
        with pytest.raises(sqlite3.IntegrityError):
            database.execute(f"{verb} events SET {assignment}")
    assert database.execute("SELECT * FROM events").fetchall() == before


@pytest.mark.parametrize("stream", ["log", "definition/x", "sources/x"])
def test_the_streams_that_everything_else_leans_on_are_never_erased(database: sqlite3.Connection, stream: str) -> None:
    """What a definition was, and what the log did, stays readable."""
    database.execute(f"INSERT {INSERT}", row(stream=stream, version=1))
    with pytest.raises(sqlite3.IntegrityError):
        database.execute("UPDATE events SET body = NULL, salt = NULL WHERE position = 2")


def test_there_is_one_head_row(database: sqlite3.Connection) -> None:
    """A second one, or one without a hash, is refused."""
    database.execute("INSERT INTO head VALUES (1, 1, zeroblob(32))")
    for values in ("(2, 1, zeroblob(32))", "(1, 1, zeroblob(32))", "(NULL, 1, zeroblob(32))"):
        with pytest.raises(sqlite3.IntegrityError):
            database.execute(f"INSERT INTO head VALUES {values}")
    with pytest.raises(sqlite3.IntegrityError):
        database.execute("UPDATE head SET hash = zeroblob(31)")
