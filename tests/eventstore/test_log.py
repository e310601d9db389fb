"""The log: what is appended can be read, in order, at the version that was expected."""

import os
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.eventstore import database, reader, table
from runwright.eventstore.envelope import ANY, NEW, Appended, Expected, RecordedEvent
from runwright.eventstore.errors import (
    EventUnreadable,
    NestedTransaction,
    StoreClosed,
    StoreMissing,
    UnknownEvent,
    ValueRefused,
    WrongExpectedVersion,
)
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.log import LogCreated
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.timer import TimerFired, TimerSet
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.transaction import Tx
from strategies.events import events
from support.rows import LAYOUT, counts
from support.stores import FIRED, appending, finished, on_writer, opened, walked


def test_a_log_begins_with_what_it_is(log: EventLog) -> None:
    """Product, schema, layout and a random ID stand in the first event."""
    (first,) = walked(log)
    assert first.stream == "log"
    assert first.event == LogCreated(product="runwright", schema=1, layout=LAYOUT.digest, log_id=log.log_id)
    assert len(log.log_id) == 32


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["run/a", "run/b", "host"]), st.lists(events, min_size=1, max_size=3)), max_size=5
    )
)
def test_whatever_is_appended_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, appends: list[tuple[str, list[Event]]]
) -> None:
    """Every event of every append, in order, with its place, and the chain holds."""
    with opened(tmp_path_factory.mktemp("store") / "home") as log:
        for stream, several in appends:
            log.transact(appending(stream, *several)).result()
        found = walked(log)
        assert [each.event for each in found[1:]] == [event for _, several in appends for event in several]
        assert [each.stream for each in found[1:]] == [stream for stream, several in appends for _ in several]
        fresh = [RecordedEvent(*row) for row in log.rows(sqlalchemy.select(table.events))]
        assert [each.event for each in fresh] == [each.event for each in found]


def test_an_append_says_where_its_events_stand(log: EventLog) -> None:
    """First and last position, and the stream's version."""
    first = log.transact(lambda tx: tx.append("run/a", NEW, [FIRED, FIRED], actor="client:x")).result()
    assert first == Appended(first=2, last=3, version=2)
    second = log.transact(
        lambda tx: tx.append("run/a", 2, [finished()], actor="worker:e", generation=7, command="k")
    ).result()
    assert second == Appended(first=4, last=4, version=3)
    event = log.event(4)
    assert event is not None
    assert (event.stream, event.version, event.type) == ("run/a", 3, "node.finished")
    assert (event.actor, event.generation, event.command) == ("worker:e", 7, "k")
    assert event.digest is not None
    assert log.event(5) is None


@pytest.mark.parametrize("expected", [NEW, 0, 1, 3])
def test_another_version_than_expected_changes_nothing(log: EventLog, expected: Expected) -> None:
    """And says which one it is."""
    log.transact(appending("run/a", FIRED, FIRED)).result()
    before = log.head()
    with pytest.raises(WrongExpectedVersion) as wrong:
        log.transact(lambda tx: tx.append("run/a", expected, [FIRED], actor="client:x")).result()
    assert (wrong.value.stream, wrong.value.actual) == ("run/a", 2)
    assert log.head() == before


def test_the_version_is_known_after_reopening(tmp_path: Path) -> None:
    """What a process knows of a stream comes from the table."""
    with opened(tmp_path / "home") as log:
        log.transact(appending("run/a", FIRED, FIRED)).result()
        log_id = log.log_id
    with opened(tmp_path / "home") as log:
        assert log.transact(lambda tx: (tx.version("run/a"), tx.version("run/b"))).result() == (2, 0)
        log.transact(lambda tx: tx.append("run/a", 2, [FIRED], actor="client:x")).result()
        assert log.log_id == log_id
        assert len(walked(log)) == 4


def test_what_a_unit_raises_undoes_all_it_did(log: EventLog) -> None:
    """Its caller gets the error itself, and the others are not touched."""

    def failing(tx: Tx) -> None:
        tx.append("run/a", NEW, [FIRED], actor="client:x")
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        log.transact(failing).result()
    assert log.head().position == 1
    assert log.transact(appending("run/a")).result().version == 1


def test_an_append_is_all_or_nothing_also_within_its_unit(log: EventLog) -> None:
    """A unit that catches the refusal of one append goes on without any of its events."""

    def unit(tx: Tx) -> int:
        with pytest.raises(ValueRefused):
            tx.append("run/a", NEW, [FIRED, finished(float("nan"))], actor="client:x")
        return tx.append("run/a", NEW, [FIRED], actor="client:x").version

    assert log.transact(unit).result() == 1
    assert len(walked(log)) == 2


def test_a_unit_sees_what_is_pending(log: EventLog) -> None:
    """Its own appends and versions, and what is committed."""

    def unit(tx: Tx) -> tuple[int, str, str, bool]:
        tx.append("run/a", NEW, [finished()], actor="client:x")
        pending, committed = tx.event(2), tx.event(1)
        assert pending is not None
        assert committed is not None
        return tx.version("run/a"), pending.type, committed.type, tx.event(3) is None

    assert log.transact(unit).result() == (1, "node.finished", "log.created", True)


def test_events_of_one_unit_have_its_stamp(log: EventLog) -> None:
    """`at` is the unit's, in microseconds of the clock that was handed in."""

    def unit(tx: Tx) -> int:
        tx.append("run/a", NEW, [FIRED, FIRED], actor="client:x")
        return tx.now

    now = log.transact(unit).result()
    assert {event.at for event in log.read("run/a")} == {now}


def test_a_transaction_does_not_outlive_its_unit(log: EventLog) -> None:
    """Whoever kept it hears so."""
    tx = log.transact(lambda tx: tx).result()
    for use in (lambda: tx.version("run/a"), lambda: tx.event(1), lambda: appending("run/a")(tx)):
        with pytest.raises(NestedTransaction):
            use()


def _headed(stream: str, actor: str, command: str | None, tx: Tx) -> Appended:
    return tx.append(stream, ANY, [FIRED], actor=actor, command=command)


def test_headers_are_checked(log: EventLog) -> None:
    """Before anything is written."""
    for stream, actor, command in (("run/a/b", "x", None), ("run/a", "", None), ("run/a", "x", "a\nb")):
        with pytest.raises(ValueRefused):
            log.transact(partial(_headed, stream, actor, command)).result()
    assert log.head().position == 1


def test_reading_a_stream_begins_where_it_is_asked_to(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order of versions, across batches."""
    monkeypatch.setattr(reader, "BATCH", 3)
    for number in range(10):
        log.transact(appending("run/a", TimerSet(kind="wait", due=number))).result()
        log.transact(appending("run/b")).result()
    found = [event.event for event in log.read("run/a", 4)]
    assert found == [TimerSet(kind="wait", due=number) for number in range(3, 10)]
    assert not list(log.read("run/none"))


def test_reading_all_can_be_narrowed(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """By position, type, stream and number, across batches and windows."""
    monkeypatch.setattr(reader, "BATCH", 3)
    monkeypatch.setattr(reader, "WINDOW", 4)
    for number in range(10):
        log.transact(appending("run/a", TimerSet(kind="wait", due=number), FIRED)).result()
        log.transact(appending("run/b")).result()
    everything = walked(log)

    def positions(found: Iterator[RecordedEvent]) -> list[int]:
        return [event.position for event in found]

    def expected(**wanted: str) -> list[int]:
        return [e.position for e in everything if all(getattr(e, name) == value for name, value in wanted.items())]

    assert positions(log.read_all(5, upto=20)) == list(range(6, 21))
    assert positions(log.read_all(5, limit=7)) == list(range(6, 13))
    assert positions(log.read_all(limit=0)) == []
    assert positions(log.read_all(types=["timer.set"])) == expected(type="timer.set")
    assert positions(log.read_all(types=["none"])) == []
    assert positions(log.read_all(types=[])) == []
    assert positions(log.read_all(streams=["run/b"])) == expected(stream="run/b")
    assert (
        positions(log.read_all(streams=["run/b", "run/a"], types=["timer.fired"], limit=4))
        == expected(type="timer.fired")[:4]
    )


def test_a_batch_of_large_values_is_cut_short(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by bytes, not only by rows."""
    monkeypatch.setattr(reader, "BATCH_BYTES", 10_000)
    for _ in range(6):
        log.transact(appending("run/a", finished("x" * 4_000))).result()
    assert [len(batch) for batch in log.batches()] == [4, 3]


def test_facts_are_read_without_private_values(log: EventLog) -> None:
    """A replay never touches a body; what stands there reads as none, and not as erased."""
    log.transact(appending("run/a", finished("secret"))).result()
    (batch,) = log.facts()
    event = batch[1]
    assert event.event == NodeFinished(path="a", visit=1, attempt=1, outcome="completed")
    assert event.body is None
    assert not event.erased
    assert [each.position for batch in log.facts(1, upto=1) for each in batch] == []


def test_facts_that_cannot_be_read_are_named(log: EventLog) -> None:
    """Also when they stand among others that are parsed in one go."""
    log.transact(appending("run/a", FIRED, FIRED, FIRED)).result()

    def damage(data: str, type: str) -> None:
        def do(connection: sqlite3.Connection) -> None:
            connection.execute("DROP TRIGGER IF EXISTS events_erase")
            connection.execute("UPDATE events SET data = ?, type = ? WHERE position = 3", (data, type))

        on_writer(log, do)

    for data, type, error in (
        ("{", "timer.fired", EventUnreadable),
        ("{},{}", "timer.fired", EventUnreadable),
        ("{}", "timer.fired", EventUnreadable),
        ('{"kind":"wait"}', "timer.melted", UnknownEvent),
    ):
        damage(data, type)
        with pytest.raises(error) as unreadable:
            list(log.facts())
        assert unreadable.value.position == 3


def test_rows_commit_with_their_events(log: EventLog) -> None:
    """And can be read by a select."""
    log.transact(appending("run/a", FIRED, FIRED)).result()
    assert log.rows(sqlalchemy.select(counts).where(counts.c.stream == "run/a")) == [("run/a", 2)]


def test_a_reader_reads_beside_the_holder(log: EventLog) -> None:
    """Without the lock, and what was committed just now."""
    log.transact(appending("run/a")).result()
    with LogReader.open(log.home.path, LAYOUT) as beside:
        assert beside.log_id == log.log_id
        log.transact(appending("run/a")).result()
        assert beside.head() == log.head()
        assert len(walked(beside)) == 3


def test_a_reader_cannot_write(log: EventLog) -> None:
    """SQLite itself refuses it."""
    with closing(database.connect_reader(log.home.log)) as connection, pytest.raises(sqlalchemy.exc.OperationalError):
        connection.execute(sqlalchemy.delete(counts))


def test_a_reader_makes_no_store(tmp_path: Path) -> None:
    """Nor a directory."""
    with pytest.raises(StoreMissing):
        LogReader.open(tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_readers_on_many_threads_do_not_wait_for_each_other(log: EventLog) -> None:
    """Each borrows a connection for a batch."""
    for _ in range(20):
        log.transact(appending("run/a")).result()
    found: list[int] = []

    def read() -> None:
        found.append(sum(1 for _ in log.read_all()))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [21] * 8


def test_a_closed_log_says_so(tmp_path: Path) -> None:
    """Closing twice does no harm, and what waited was committed."""
    log = opened(tmp_path / "home")
    future = log.transact(appending("run/a"))
    log.close()
    log.close()
    assert future.result().version == 1
    for use in (lambda: log.transact(appending("run/a")), lambda: log.event(1), log.head, lambda: log.checkpoint()):
        with pytest.raises(StoreClosed):
            use()
    assert sorted(path.name for path in (tmp_path / "home").iterdir() if "sqlite" in path.name) == ["log.sqlite"]


def test_media_types_survive(log: EventLog) -> None:
    """A text stays a text, also when it looks like JSON."""
    event = NodeFinished(path="a", visit=1, attempt=1, outcome="failed", error=Content.text('{"a":1}'))
    log.transact(appending("run/a", event)).result()
    (found,) = log.read("run/a")
    assert found.event == event


def test_an_event_without_data_goes_round(log: EventLog) -> None:
    """The shortest facts are an empty object."""
    log.transact(appending("run/a", TimerFired(kind=""))).result()
    (found,) = log.read("run/a")
    assert found.event == TimerFired(kind="")


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are text there")
def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    """A name is bytes: the store is made, read and maintained there as anywhere."""
    home = tmp_path / os.fsdecode(b"\xff file:x?mode=ro")
    with opened(home) as log:
        log.transact(appending("run/a")).result()
        beside = home / "beside.sqlite"
        with closing(sqlite3.connect(os.fsencode(beside))) as other:
            other.execute("CREATE TABLE found (x)")
        statement = database.Statement("SELECT name FROM beside.sqlite_master")
        assert log.maintain(lambda connection: database.execute(connection, statement), beside) == [("found",)]
    with LogReader.open(home) as log:
        assert log.head().position == 2
