"""SQLite as we use it: every setting, its errors in our words, and nothing raw that gets out."""

import pickle
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy

from runwright.eventstore import database, errors
from runwright.eventstore.database import Statement
from runwright.eventstore.errors import (
    SqliteTooOld,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnavailable,
    WriteRefused,
)
from runwright.eventstore.log import EventLog
from runwright.eventstore.table import events
from support.stores import appending, finished, on_writer, opened

MARKER = "MARKER-7c1e"

WRITER = {
    "journal_mode": "wal",
    "synchronous": 2,
    "secure_delete": 1,
    "foreign_keys": 1,
    "recursive_triggers": 1,
    "trusted_schema": 0,
    "temp_store": 2,
    "busy_timeout": 5000,
    "journal_size_limit": database.JOURNAL_LIMIT,
    "query_only": 0,
}


def settings(connection: sqlite3.Connection) -> dict[str, object]:
    """Read back every setting."""
    return {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in WRITER}


def test_the_writer_has_every_setting(log: EventLog) -> None:
    """Read back from SQLite itself."""
    assert on_writer(log, settings) == WRITER


def test_a_reader_has_every_setting_and_cannot_write(log: EventLog) -> None:
    """Also when its statement is no select."""
    with closing(database.connect_reader(log.home.log)) as connection:
        assert settings(database.driver(connection)) == WRITER | {"query_only": 1}
        with pytest.raises(StoreUnavailable):
            database.execute(connection, Statement("DELETE FROM head"))


def test_erased_bytes_are_gone_from_every_file(log: EventLog) -> None:
    """With secure delete on and the WAL truncated, what was in a body is nowhere in the directory."""
    log.transact(appending("run/a", finished(MARKER), finished(MARKER * 2_000))).result()

    def found() -> bool:
        return any(MARKER.encode() in path.read_bytes() for path in log.home.path.iterdir() if path.is_file())

    assert log.checkpoint(truncate=True)
    log.close()
    assert found()
    with opened(log.home.path) as again:
        again.transact(lambda tx: tx.erase([2, 3])).result()
        assert again.checkpoint(truncate=True)
        again.close()
    assert not found()


def test_without_secure_delete_they_would_not_be(tmp_path: Path) -> None:
    """Unless this SQLite has it compiled in, the setting is what does it."""
    with closing(sqlite3.connect(tmp_path / "plain", isolation_level=None)) as connection:
        if connection.execute("PRAGMA secure_delete").fetchone() != (0,):
            pytest.skip("this SQLite deletes securely by itself")
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (?)", (MARKER * 2_000,))
        connection.execute("UPDATE t SET a = NULL")
    assert MARKER.encode() in (tmp_path / "plain").read_bytes()


def test_an_old_sqlite_is_refused() -> None:
    """STRICT tables came with 3.37."""
    database.check_version((3, 37, 0))
    with pytest.raises(SqliteTooOld, match=r"3\.36\.0"):
        database.check_version((3, 36, 0))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_BUSY, StoreBusy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreBusy),
        (sqlite3.SQLITE_LOCKED, StoreBusy),
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_IOERR_WRITE, StoreFull),
        (sqlite3.SQLITE_IOERR_SHMSIZE, StoreFull),
        (sqlite3.SQLITE_IOERR_READ, StoreUnavailable),
        (sqlite3.SQLITE_CORRUPT, StoreCorrupt),
        (sqlite3.SQLITE_NOTADB, StoreCorrupt),
        (sqlite3.SQLITE_CONSTRAINT_CHECK, WriteRefused),
        (sqlite3.SQLITE_READONLY, StoreUnavailable),
        (sqlite3.SQLITE_CANTOPEN, StoreUnavailable),
        (sqlite3.SQLITE_NOMEM, StoreUnavailable),
        (None, StoreCorrupt),  # only the driver itself raises without a number: a text that is none
    ],
)
def test_sqlites_errors_are_told_in_our_words(code: int | None, expected: type[StoreError]) -> None:
    """By their number, and without their text."""
    raw = sqlite3.OperationalError(MARKER)
    if code is not None:
        raw.sqlite_errorcode = code
    wrapped = sqlalchemy.exc.OperationalError(MARKER, {"value": MARKER}, raw)
    for error in (raw, wrapped):
        told = database.translate(error, Path("log.sqlite"))
        assert type(told) is expected
        assert MARKER not in str(told)


def test_no_parameter_and_no_sql_gets_out(log: EventLog) -> None:
    """Neither through our statements nor through a select that is handed in."""
    missing = sqlalchemy.table("missing", sqlalchemy.column("a"))
    with pytest.raises(StoreUnavailable) as failed:
        log.rows(sqlalchemy.select(missing).where(missing.c.a == MARKER))
    error: BaseException | None = failed.value
    while error is not None:
        assert MARKER not in str(error)
        assert "SELECT" not in str(error)
        error = error.__cause__ if error.__suppress_context__ else error.__context__


def test_a_statement_knows_its_parameters_in_order() -> None:
    """Values by name, or those that the construct gave."""
    statement = Statement.of(
        sqlalchemy.select(events.c.hash).where(
            events.c.position > sqlalchemy.bindparam("after"), events.c.stream == "run/a"
        )
    )
    assert statement.bind(after=3) == (3, "run/a")
    assert "run/a" not in statement.text


def test_every_error_keeps_its_facts_when_it_is_copied() -> None:
    """Errors cross process borders, whatever their constructors take."""
    error = errors.WrongExpectedVersion("run/a", 1, 2)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (copy.stream, copy.expected, copy.actual, copy.message, copy.hint) == (
        "run/a",
        1,
        2,
        error.message,
        error.hint,
    )
    assert str(copy) == str(error)


def test_codes_are_stable_and_differ() -> None:
    """One code for each class, and a place in the tree at the top of the module."""
    classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, StoreError)]
    assert len({each.code for each in classes}) == len(classes)
    assert errors.__doc__ is not None
    for each in classes:
        assert each.__name__ in errors.__doc__
