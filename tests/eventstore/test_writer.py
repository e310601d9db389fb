"""The writer: commits are shared, the guilty unit alone fails, and an uncertain COMMIT is found out."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.eventstore import chain, connected, queue, writer
from runwright.eventstore.envelope import ANY, NEW, Appended
from runwright.eventstore.errors import (
    NestedTransaction,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnavailable,
    WriteRefused,
    WrongExpectedVersion,
)
from runwright.eventstore.events.log import LogBarrier
from runwright.eventstore.log import EventLog
from runwright.eventstore.queue import Queue, Work
from runwright.eventstore.transaction import Tx
from support.rows import Counts, counts
from support.stores import FIRED, appending, finished, on_writer, opened


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


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    """The driver, counting commits."""
    return Driver(monkeypatch)


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


# --- group commit -----------------------------------------------------------------------------------------


def test_units_that_wait_together_share_one_commit(log: EventLog, driver: Driver) -> None:
    """And each is answered with its own result."""
    with held(log):
        futures = [log.transact(appending(f"run/{number}")) for number in range(50)]
        assert not any(future.done() for future in futures)
    assert [future.result(30).first for future in futures] == list(range(2, 52))
    assert driver.commits == 1
    check(log)


def test_a_unit_sees_what_those_before_it_in_the_commit_did(log: EventLog) -> None:
    """Together means the same as one after another."""
    with held(log):
        one = log.transact(lambda tx: tx.append("run/a", NEW, [FIRED], actor="client:x"))
        two = log.transact(lambda tx: tx.append("run/a", 1, [FIRED], actor="client:x"))
        three = log.transact(lambda tx: tx.append("run/a", 1, [FIRED], actor="client:x"))
    assert (one.result(30).version, two.result(30).version) == (1, 2)
    with pytest.raises(WrongExpectedVersion):
        three.result(30)
    check(log)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([NEW, ANY, 0, 1, 2, 3]), st.integers(1, 3), st.booleans()),
        max_size=12,
    )
)
def test_a_batch_means_what_its_units_mean_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, plan: list[tuple[str, Any, int, bool]]
) -> None:
    """Whatever they expect, append, and raise."""

    def unit(stream: str, expected: Any, number: int, fails: bool) -> Callable[[Tx], Appended]:
        def run(tx: Tx) -> Appended:
            answer = tx.append(f"run/{stream}", expected, [FIRED] * number, actor="client:x")
            if fails:
                raise LookupError
            return answer

        return run

    def outcome(future: "Future[Appended]") -> object:
        error = future.exception(30)
        return future.result() if error is None else type(error)

    folder = tmp_path_factory.mktemp("stores")
    with opened(folder / "one") as alone, opened(folder / "many") as together:
        singly = [outcome(alone.transact(unit(*each))) for each in plan]
        with held(together):
            futures = [together.transact(unit(*each)) for each in plan]
        assert [outcome(future) for future in futures] == singly
        assert rows(alone) == rows(together)
        check(together)


def test_a_commit_takes_no_more_than_so_many_bytes(
    log: EventLog, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What finds no room goes first into the next one, in order."""
    monkeypatch.setattr(writer, "MOST_BYTES", 10_000)
    with held(log):
        futures = [log.transact(appending("run/a", finished("x" * 4_000))) for _ in range(7)]
    assert [future.result(30).version for future in futures] == list(range(1, 8))
    assert driver.commits == 3
    check(log)


def test_a_commit_takes_no_more_than_so_many_units(
    log: EventLog, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others wait for the next."""
    monkeypatch.setattr(writer, "MOST_UNITS", 4)
    with held(log):
        futures = [log.transact(appending("run/a")) for _ in range(10)]
    assert [future.result(30).version for future in futures] == list(range(1, 11))
    assert driver.commits == 3


def test_what_only_reads_commits_nothing(log: EventLog, driver: Driver) -> None:
    """No fsync for a look."""
    assert log.transact(lambda tx: tx.version("run/a")).result() == 0
    assert driver.commits == 0


def test_urgent_units_go_before_others(log: EventLog) -> None:
    """A cancel does not wait behind starts."""
    order: list[str] = []

    def noting(name: str, tx: Tx) -> None:
        order.append(name)

    with held(log):
        futures = [log.transact(partial(noting, name)) for name in ("start 1", "start 2")]
        futures.append(log.transact(partial(noting, "cancel"), urgent=True))
    for future in futures:
        future.result(30)
    assert order == ["cancel", "start 1", "start 2"]


def test_a_cancelled_waiter_does_not_cancel_its_unit(log: EventLog) -> None:
    """The commit happens; only nobody hears of it."""

    async def impatient() -> None:
        future = log.transact(appending("run/a"))
        assert not future.cancel()
        task = asyncio.ensure_future(asyncio.wrap_future(log.transact(appending("run/a"))))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with held(log):
        asyncio.run(impatient())
    assert log.transact(lambda tx: tx.version("run/a")).result(30) == 2


def test_a_transaction_inside_a_unit_is_an_error(log: EventLog) -> None:
    """It would wait for itself."""
    with pytest.raises(NestedTransaction):
        log.transact(lambda tx: log.transact(appending("run/a"))).result(30)
    with pytest.raises(NestedTransaction):
        log.transact(lambda tx: log.checkpoint()).result(30)
    with pytest.raises(NestedTransaction):
        log.transact(lambda tx: log.close()).result(30)
    assert log.transact(appending("run/a")).result(30).version == 1


def test_a_full_queue_makes_callers_wait_and_then_says_so() -> None:
    """Waiting is bounded, too."""
    waiting = Queue(bound=2, patience=0.05)
    for _ in range(2):
        waiting.put(Work(lambda tx: None), urgent=False)
    with pytest.raises(StoreUnavailable, match="too many"):
        waiting.put(Work(lambda tx: None), urgent=False)
    waiting.put(Work(lambda tx: None), urgent=True)
    patient = Queue(bound=1, patience=30)
    patient.put(Work(lambda tx: None), urgent=False)
    taker = threading.Timer(0.05, lambda: patient.take(10))
    taker.start()
    patient.put(Work(lambda tx: None), urgent=False)
    taker.join()


def test_a_unit_that_exits_the_interpreter_does_not_end_the_writer(log: EventLog) -> None:
    """Whatever a unit raises goes to its caller."""

    def leaving(tx: Tx) -> None:
        raise SystemExit

    with pytest.raises(SystemExit):
        log.transact(leaving).result(30)
    assert log.transact(appending("run/a")).result(30).version == 1


# --- trouble before COMMIT --------------------------------------------------------------------------------


def test_only_the_guilty_unit_of_a_batch_fails(log: EventLog) -> None:
    """A constraint of the rows is in the way of one; the others are rerun alone and commit."""
    with held(log):
        good = [log.transact(appending("run/a")), log.transact(appending("run/b"))]
        bad = log.transact(appending("run/c", *[FIRED] * 1000))
        good.append(log.transact(appending("run/a")))
    assert [future.result(30).version for future in good] == [1, 1, 2]
    with pytest.raises(WriteRefused) as refused:
        bad.result(30)
    assert "CHECK" not in str(refused.value)
    assert refused.value.__cause__ is None
    check(log)


def test_what_evolving_raises_is_the_units_own_error(tmp_path: Path) -> None:
    """An event that does not fit its row takes its unit along, and no other."""
    control = Counts()
    control.refuse = "run/b"
    with opened(tmp_path / "home", control) as log:
        with held(log):
            good = log.transact(appending("run/a"))
            bad = log.transact(appending("run/b"))
        assert good.result(30).version == 1
        with pytest.raises(ValueError, match="refused"):
            bad.result(30)
        check(log)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_IOERR_WRITE, StoreFull),
        (sqlite3.SQLITE_IOERR_READ, StoreUnavailable),
    ],
)
def test_trouble_in_a_batch_reruns_its_units_alone(
    log: EventLog, driver: Driver, code: int, error: type[StoreError]
) -> None:
    """A statement failed once: all of them still commit, and nothing twice."""
    driver.before = once(raising(code), at="UPDATE head SET position=?, hash=?")
    with held(log):
        futures = [log.transact(appending(f"run/{number}")) for number in range(3)]
    assert [future.result(30).version for future in futures] == [1, 1, 1]
    driver.before = once(raising(code), at="UPDATE head SET position=?, hash=?")
    with pytest.raises(error) as failed:
        log.transact(appending("run/0")).result(30)
    assert "SECRET" not in str(failed.value)
    assert log.transact(appending("run/0")).result(30).version == 2
    check(log)


def test_a_transaction_that_sqlite_ended_by_itself_is_noticed(log: EventLog, driver: Driver) -> None:
    """After a full disk SQLite may roll back alone; a COMMIT then must not say yes to nothing."""
    driver.after = once(lambda connection: connection.rollback(), at="UPDATE head SET position=?, hash=?")
    with held(log):
        futures = [log.transact(appending(f"run/{number}")) for number in range(3)]
    assert [future.result(30).version for future in futures] == [1, 1, 1]
    check(log)


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


def test_a_checkpoint_truncates_the_wal_unless_somebody_reads(log: EventLog) -> None:
    """The answer says whether all of it went."""
    log.transact(appending("run/a")).result(30)
    wal = log.home.log.with_name("log.sqlite-wal")
    assert wal.stat().st_size > 0
    with closing(sqlite3.connect(log.home.log, isolation_level=None)) as outside:
        outside.execute("BEGIN")
        outside.execute("SELECT * FROM head").fetchall()
        log.transact(appending("run/a")).result(30)
        assert not log.checkpoint(truncate=True)
        outside.execute("ROLLBACK")
    assert log.checkpoint(truncate=True)
    assert wal.stat().st_size == 0
    assert log.transact(appending("run/a")).result(30).version == 3
    check(log)


def test_sixty_four_callers_lose_nothing(log: EventLog) -> None:
    """Each of many threads appends to its own stream and one shared stream."""

    def work(number: int) -> None:
        for _ in range(10):
            log.transact(appending(f"run/{number}")).result(30)
            log.transact(appending("run/shared")).result(30)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(log)["run/shared"] == 640
    check(log)
    assert queue.MOST_WAITING >= 64
