"""The one module that speaks SQLite: connections and their settings, statements, and its errors in our words."""

import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import sqlalchemy
from attrs import frozen
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql import ClauseElement

from runwright.eventstore import connected
from runwright.eventstore.errors import (
    Forked,
    SqliteTooOld,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnavailable,
    WriteRefused,
)

#: The first SQLite with STRICT tables.
OLDEST = (3, 37, 0)
#: How long SQLite waits for a lock that something outside holds (milliseconds).
BUSY_TIMEOUT = 5000
#: To what size a WAL that grew behind a long reader is cut back (bytes).
JOURNAL_LIMIT = 16 * 1024 * 1024

Row: TypeAlias = tuple[Any, ...]

#: What the driver raises: besides its own errors the decoder's, where damaged bytes get into one of its messages.
RAW = (sqlite3.Error, UnicodeDecodeError)

_DIALECT = sqlite.dialect()


@frozen
class Statement:
    """A statement of SQLAlchemy Core, compiled once, to be executed with tuples.

    Attributes:
        text: The SQL, with ``?`` for each parameter.
        names: The parameters' names, in the order of the ``?``.
        values: Their values where the construct gave them.
    """

    text: str
    names: tuple[str, ...] = ()
    values: Row = ()

    @classmethod
    def of(cls, construct: ClauseElement) -> "Statement":
        """Compile a Core construct."""
        compiled = construct.compile(dialect=_DIALECT)
        names = tuple(getattr(compiled, "positiontup", None) or ())
        return cls(str(compiled), names, tuple(compiled.params.get(name) for name in names))

    def bind(self, **given: object) -> Row:
        """Answer the tuple to execute it with, from values by name."""
        return tuple(given.get(name, value) for name, value in zip(self.names, self.values, strict=True))


#: Statements that a connection keeps prepared: each insert has several forms.
PREPARED = 512

_DATA_VERSION = Statement("PRAGMA data_version")
_JOURNAL_MODE = Statement("PRAGMA journal_mode")


def execute(connection: sqlalchemy.Connection, statement: Statement, row: Row | None = None) -> list[Row]:
    """Execute a compiled statement on its driver's connection and answer all its rows.

    Args:
        connection: The connection.
        statement: The statement.
        row: Its parameters in order; by default the values that the construct gave them.

    Raises:
        StoreError: SQLite refused, in our words.
    """
    try:
        return driver(connection).execute(statement.text, statement.values if row is None else row).fetchall()
    except RAW as error:
        raise translate(error, path_of(connection)) from None


def execute_many(connection: sqlalchemy.Connection, statement: Statement, rows: Sequence[Row]) -> None:
    """Execute a compiled statement once for each tuple.

    Raises:
        StoreError: SQLite refused, in our words.
    """
    try:
        driver(connection).executemany(statement.text, rows)
    except RAW as error:
        raise translate(error, path_of(connection)) from None


def execute_bounded(
    connection: sqlalchemy.Connection, statement: Statement, row: Row, size: Callable[[Row], int], most: int
) -> list[Row]:
    """Execute a compiled statement and answer its first rows, up to the one that reaches a total size.

    The statement is finished when this returns: no cursor stays open for whoever uses the rows.
    """
    rows: list[Row] = []
    total = 0
    try:
        cursor = driver(connection).execute(statement.text, row)
        for each in cursor:
            rows.append(each)
            total += size(each)
            if total >= most:
                break
        cursor.close()
    except RAW as error:
        raise translate(error, path_of(connection)) from None
    return rows


def schema(connection: sqlalchemy.Connection) -> dict[str, str]:
    """Answer the statement of each table, index and trigger, as it was executed, by name."""
    # By its older name: SQLite 3.40 knows no column as `sqlite_schema.name`.
    schema = sqlalchemy.table("sqlite_master", sqlalchemy.column("name"), sqlalchemy.column("sql"))
    return dict(execute(connection, Statement.of(sqlalchemy.select(schema).where(schema.c.sql.is_not(None)))))


def define(connection: sqlalchemy.Connection, application: int, version: int, statements: Sequence[str]) -> None:
    """Make the tables of a new store, and mark it as ours, in one transaction."""
    new = driver(connection)
    new.execute("BEGIN IMMEDIATE")
    new.execute(f"PRAGMA application_id={application}")
    new.execute(f"PRAGMA user_version={version}")
    for statement in statements:
        new.execute(statement)
    new.execute("COMMIT")


def takes(statements: Iterable[str]) -> bool:
    """Tell whether SQLite takes statements as they are, tried in a database that is empty and goes at once."""
    with closing(sqlite3.connect(":memory:")) as trial:
        try:
            for each in statements:
                trial.execute(each)
        except RAW:
            return False
    return True


def data_version(connection: sqlalchemy.Connection) -> int:
    """Answer a number that changes when another connection commits."""
    ((version,),) = execute(connection, _DATA_VERSION)
    return int(version)


def journal_mode(connection: sqlalchemy.Connection) -> str:
    """Answer how SQLite keeps the file's changes safe: ``wal``, or another word where there is no WAL."""
    ((mode,),) = execute(connection, _JOURNAL_MODE)
    return str(mode)


def driver(connection: sqlalchemy.Connection) -> sqlite3.Connection:
    """Answer the driver's connection behind a connection of Core."""
    found = connection.connection.driver_connection
    assert isinstance(found, sqlite3.Connection)
    return found


def path_of(connection: sqlalchemy.Connection) -> Path:
    """Answer which file a connection has open."""
    return Path(connection.engine.get_execution_options()["path"])


def connect_writer(path: Path, *, wal: bool = True) -> sqlalchemy.Connection:
    """Open an existing store for writing, with every setting made and asserted.

    Args:
        path: The file; it is never created here.
        wal: Whether to keep a WAL; without, the store is in DELETE mode.
    """
    mode = "WAL" if wal else "DELETE"
    return _connect(path, "mode=rw", [("journal_mode", mode, mode.lower()), *_SETTINGS, ("query_only", 0, 0)])


def connect_reader(path: Path) -> sqlalchemy.Connection:
    """Open an existing store for reading only."""
    return _connect(path, "mode=ro", [*_SETTINGS, ("query_only", 1, 1)])


def connect_frozen(path: Path, *, immutable: bool) -> sqlalchemy.Connection:
    """Open a store that nobody else writes, only to look at it.

    Args:
        path: The file.
        immutable: Whether SQLite shall take the file as it stands: no WAL, no locks, no file made.
    """
    settings = [each for each in _SETTINGS if each[0] != "journal_size_limit"] if immutable else _SETTINGS
    return _connect(path, "mode=ro&immutable=1" if immutable else "mode=ro", [*settings, ("query_only", 1, 1)])


def connect_cut(path: Path) -> sqlalchemy.Connection:
    """Open what is left of a file that is shorter than its header says, which SQLite refuses otherwise."""
    settings = [each for each in _SETTINGS if each[0] != "journal_size_limit"]
    return _connect(path, "mode=ro&immutable=1", [("writable_schema", "ON", 1), ("query_only", 1, 1), *settings])


_FULLFSYNC: list[tuple[str, object, object]] = (
    [("fullfsync", 1, 1), ("checkpoint_fullfsync", 1, 1)] if sys.platform == "darwin" else []
)

#: Name, what to set, and what must then be answered.
_SETTINGS: list[tuple[str, object, object]] = [
    ("synchronous", "FULL", 2),
    *_FULLFSYNC,
    ("secure_delete", "ON", 1),
    ("foreign_keys", "ON", 1),
    ("recursive_triggers", "ON", 1),
    ("trusted_schema", "OFF", 0),
    ("temp_store", "MEMORY", 2),  # a sorter's temporary file would hold private values
    ("journal_size_limit", JOURNAL_LIMIT, JOURNAL_LIMIT),
]


def _connect(path: Path, query: str, settings: list[tuple[str, object, object]]) -> sqlalchemy.Connection:
    check_version(sqlite3.sqlite_version_info)

    def create() -> sqlite3.Connection:
        with connected.opening:
            if connected.is_inherited(path):
                raise Forked
            made = sqlite3.connect(
                f"file:{quote(os.fsencode(path.absolute()))}?{query}",
                uri=True,
                timeout=BUSY_TIMEOUT / 1000,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=PREPARED,
                factory=connected.CountedConnection,
            )
            made.count(path)
        try:
            _settle(made, settings)
        except BaseException:
            made.close()
            raise
        return made

    # AUTOCOMMIT, because BEGIN and COMMIT are ours: Core's own lost an outer rollback on this driver.
    engine = sqlalchemy.create_engine(
        "sqlite+pysqlite://",
        creator=create,
        poolclass=sqlalchemy.NullPool,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        execution_options={"path": os.fspath(path)},
    )
    with translated(path):
        return engine.connect()


def check_version(found: tuple[int, ...]) -> None:
    """Refuse an SQLite that has no STRICT tables.

    Raises:
        SqliteTooOld: It is older than 3.37.
    """
    if found < OLDEST:
        raise SqliteTooOld(".".join(map(str, found)), ".".join(map(str, OLDEST)))


def _settle(made: sqlite3.Connection, settings: list[tuple[str, object, object]]) -> None:
    """Make each setting and read it back: a build can ignore one without a word."""
    for name, value, expected in [("busy_timeout", BUSY_TIMEOUT, BUSY_TIMEOUT), *settings]:
        made.execute(f"PRAGMA {name}={value}").fetchall()
        (found,) = made.execute(f"PRAGMA {name}").fetchone()
        if found != expected:
            raise StoreUnavailable(f"SQLite does not take the setting {name}")


# --- errors -----------------------------------------------------------------------------------------------

_PRIMARY: dict[int, Callable[[Path], StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_LOCKED: StoreBusy,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_CORRUPT: lambda path: StoreCorrupt(path, "a page does not fit the others"),
    sqlite3.SQLITE_NOTADB: lambda path: StoreCorrupt(path, "its first page is no database's"),
    sqlite3.SQLITE_CONSTRAINT: WriteRefused,
    sqlite3.SQLITE_READONLY: lambda _: StoreUnavailable("the file cannot be written"),
    sqlite3.SQLITE_CANTOPEN: lambda _: StoreUnavailable("a file cannot be opened"),
    sqlite3.SQLITE_IOERR: lambda _: StoreUnavailable("the disk could not be read or written"),
}

#: What a full disk, a quota or a limit on file sizes shows as beside SQLITE_FULL; a reader, too, needs shared memory.
_FULL = frozenset({sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE})


def translate(error: BaseException, path: Path) -> StoreError:
    """Answer our error for one of SQLite or SQLAlchemy, taking over nothing of its text."""
    if isinstance(error, StoreError):
        return error
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlite_errorcode", None)
    if isinstance(cause, UnicodeDecodeError) or (code is None and isinstance(cause, sqlite3.OperationalError)):
        return StoreCorrupt(path, "a text in it is no text")  # the driver itself could not decode it
    if code in _FULL:
        return StoreFull(path)
    make = _PRIMARY.get((code or 0) & 0xFF)
    return make(path) if make else StoreUnavailable("SQLite could not do what was asked of it")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Let none of SQLite's or SQLAlchemy's errors out of the block."""
    try:
        yield
    except (*RAW, SQLAlchemyError) as error:
        raise translate(error, path) from None
