"""The writer: commits are shared, in order and in bounds, and the guilty unit alone fails."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.eventstore import queue, writer
from runwright.eventstore.envelope import ANY, NEW, Appended
from runwright.eventstore.errors import (
    NestedTransaction,
    StoreError,
    StoreFull,
    StoreUnavailable,
    WriteRefused,
    WrongExpectedVersion,
)
from runwright.eventstore.log import EventLog
from runwright.eventstore.queue import Queue, Work
from runwright.eventstore.transaction import Tx
from support.rows import Counts
from support.stores import FIRED, appending, finished, opened
from support.troubled_writer import Driver, check, held, once, raising, rows

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
