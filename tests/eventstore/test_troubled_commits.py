"""A commit in trouble: a full disk, a busy store, an uncertain COMMIT and a file that is not ours are found out."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runwright.eventstore.errors import StoreBusy, StoreError, StoreFull, StoreUnavailable
from runwright.eventstore.events.log import LogBarrier
from runwright.eventstore.log import EventLog
from support.rows import Counts
from support.stores import appending, finished, on_writer, opened
from support.troubled_writer import Driver, broken, check, held, once, raising


def test_a_full_disk_is_a_typed_answer_and_passes(log: EventLog) -> None:
    """What is too large fails alone; with room again, everything goes on by itself."""
    (pages,) = on_writer(log, lambda connection: connection.execute("PRAGMA page_count").fetchone())
    on_writer(log, lambda connection: connection.execute(f"PRAGMA max_page_count={pages + 4}").fetchall())
    with held(log):
        small = log.transact(appending("run/a"))
        large = log.transact(appending("run/b", finished("x" * 100_000)))
        other = log.transact(appending("run/c"))
    assert small.result(30).version == other.result(30).version == 1
    with pytest.raises(StoreFull) as full:
        large.result(30)
    assert "Free some space" in full.value.hint
    check(log)
    on_writer(log, lambda connection: connection.execute("PRAGMA max_page_count=1000000").fetchall())
    assert log.transact(appending("run/b", finished("x" * 100_000))).result(30).version == 1
    check(log)


def test_a_busy_store_is_waited_for_and_then_a_typed_answer(log: EventLog) -> None:
    """Somebody outside holds the lock: nobody sees SQLite's words, and afterwards it works."""
    on_writer(log, lambda connection: connection.execute("PRAGMA busy_timeout=50").fetchall())
    with closing(sqlite3.connect(log.home.log, isolation_level=None)) as outside:
        outside.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy) as busy:
            log.transact(appending("run/a")).result(30)
        assert "locked" in str(busy.value)
        assert busy.value.__cause__ is None
        assert busy.value.__suppress_context__
        assert log.event(1) is not None
        on_writer(log, lambda connection: connection.execute("PRAGMA busy_timeout=30000").fetchall())
        waiting = log.transact(appending("run/a"))
        outside.execute("ROLLBACK")
        assert waiting.result(30).version == 1
    check(log)


# --- a COMMIT that failed ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, StoreUnavailable),
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_NOMEM, StoreUnavailable),
    ],
)
def test_a_commit_that_failed_and_did_not_happen_fails(
    log: EventLog, driver: Driver, code: int, error: type[StoreError]
) -> None:
    """The units are told so only once a barrier behind it is committed on a new connection."""
    before = log.head()
    driver.before = once(raising(code))
    with held(log):
        futures = [log.transact(appending("run/a")), log.transact(appending("run/b"))]
    for future in futures:
        with pytest.raises(error) as failed:
            future.result(30)
        assert "SECRET" not in str(failed.value)
    (barrier,) = log.read_all(before.position)
    assert barrier.event == LogBarrier(position=before.position, hash=before.hash.hex(), by="host:store")
    assert log.transact(appending("run/a")).result(30).version == 1
    check(log)


def test_a_commit_that_failed_and_did_happen_succeeds(log: EventLog, driver: Driver) -> None:
    """An error of COMMIT is no proof: the barrier finds the events, and the units are told the truth."""
    driver.after = once(raising(sqlite3.SQLITE_IOERR_FSYNC))
    with held(log):
        futures = [log.transact(appending("run/a")), log.transact(appending("run/b"))]
    assert [future.result(30).version for future in futures] == [1, 1]
    assert [event.type for event in log.read_all()][-1] == "log.barrier"
    check(log)


def test_while_the_disk_stays_full_nothing_runs_and_then_it_goes_on(log: EventLog, driver: Driver) -> None:
    """The outcome is unknown until a barrier goes through; who comes in between hears that the disk is full."""
    full = [True]

    def hook(connection: sqlite3.Connection, text: str) -> None:
        if text == "COMMIT" and full:
            raise broken(sqlite3.SQLITE_FULL)

    driver.before = hook
    with pytest.raises(StoreUnavailable, match="outcome unknown"):
        log.transact(appending("run/a")).result(30)
    ran: list[int] = []
    with pytest.raises(StoreFull):
        log.transact(lambda tx: ran.append(1)).result(30)
    assert not ran
    assert log.failed is None
    full.clear()
    assert log.transact(appending("run/a")).result(30).version == 1
    assert [event.type for event in log.read_all()] == ["log.created", "log.barrier", "timer.fired"]
    check(log)


def test_when_the_barrier_fails_the_writer_gives_up(log: EventLog, driver: Driver) -> None:
    """Nobody is told yes or no, and whoever holds the log learns that it has to stop."""
    calls = [0]

    def hook(connection: sqlite3.Connection, text: str) -> None:
        if text == "COMMIT":
            calls[0] += 1
            raise broken(sqlite3.SQLITE_IOERR_FSYNC)

    told: list[int] = []
    log.when_failed(lambda: told.append(1))
    driver.before = hook
    with held(log):
        futures = [log.transact(appending("run/a")), log.transact(appending("run/b"))]
    for future in futures:
        with pytest.raises(StoreUnavailable) as unknown:
            future.result(30)
        assert "same key" in unknown.value.hint
    assert calls == [2]
    assert log.failed is not None
    assert told == [1]
    with pytest.raises(StoreUnavailable):
        log.transact(appending("run/a"))
    assert log.event(1) is not None


def test_a_barrier_that_failed_itself_is_found_out_too(log: EventLog, driver: Driver) -> None:
    """Its COMMIT is as uncertain as any other; the next barrier accepts either end of it."""
    errors = [sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_FULL]

    def after(connection: sqlite3.Connection, text: str) -> None:
        if text == "COMMIT" and errors:
            raise broken(errors.pop(0))

    driver.after = after
    with pytest.raises(StoreUnavailable, match="unknown"):
        log.transact(appending("run/a")).result(30)
    assert log.transact(appending("run/a")).result(30).version == 2
    assert [event.type for event in log.read_all()][1:] == ["timer.fired", "log.barrier", "log.barrier", "timer.fired"]
    check(log)


# --- the ground under the store ---------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_files_that_were_replaced_are_not_written(log: EventLog, suffix: str) -> None:
    """Device and inode of the store and its WAL are compared before each commit."""
    log.transact(appending("run/a")).result(30)
    path = log.home.log.with_name(log.home.log.name + suffix)
    os.rename(path, path.with_name("aside"))  # noqa: PTH104
    path.touch(mode=0o600)
    with pytest.raises(StoreUnavailable, match="replaced"):
        log.transact(appending("run/a")).result(30)
    assert log.failed is not None
    assert path.stat().st_size == 0


def test_rows_that_somebody_else_changed_are_not_served_from_memory(tmp_path: Path) -> None:
    """A shell edited a row beside the log: what was remembered is dropped, and the log goes on."""
    control = Counts()
    dropped: list[int] = []
    with opened(tmp_path / "home", control) as log:
        log.transact(appending("run/a")).result(30)
        control.discard = lambda: dropped.append(1)  # type: ignore[method-assign]
        with closing(sqlite3.connect(log.home.log, isolation_level=None)) as outside:
            outside.execute("UPDATE counts SET events = 7")
        log.transact(lambda tx: None).result(30)
        assert dropped


def test_a_log_that_somebody_else_wrote_to_is_left_alone(log: EventLog) -> None:
    """Two writers cannot both be right."""
    log.transact(appending("run/a")).result(30)
    with closing(sqlite3.connect(log.home.log, isolation_level=None)) as outside:
        outside.execute("UPDATE head SET hash = zeroblob(32)")
    with pytest.raises(StoreUnavailable, match="another program"):
        log.transact(appending("run/a")).result(30)
    assert log.failed is not None
