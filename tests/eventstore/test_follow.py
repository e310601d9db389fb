"""Following: past events, then new ones, each once, without polling where the writer lives."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.eventstore import follow, reader
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.errors import StoreClosed
from runwright.eventstore.log import EventLog, LogReader
from support.stores import appending, finished, opened


def test_past_events_come_first_and_then_new_ones(log: EventLog) -> None:
    """In order of positions, from after the one that was named."""
    log.transact(appending("run/a")).result()
    with log.subscribe(1) as following:
        first = following.next(30)
        assert first is not None
        assert first.position == 2
        assert following.next(0) is None
        log.transact(appending("run/a")).result()
        second = following.next(30)
        assert second is not None
        assert second.position == following.position == 3


def test_a_waiter_is_woken_by_the_commit(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing looks at the table while nothing happens."""
    looks: list[int] = []
    batches = log.batches

    def counted(after: int) -> object:
        looks.append(after)
        return batches(after)

    monkeypatch.setattr(log, "batches", counted)
    following = log.subscribe(1)
    found: list[RecordedEvent | None] = []
    waiter = threading.Thread(target=lambda: found.append(following.next(30)))
    waiter.start()
    waiter.join(0.3)
    assert waiter.is_alive()
    assert looks == [1]
    log.transact(appending("run/a")).result()
    waiter.join(30)
    assert [event.position for event in found if event] == [2]


def test_a_slow_subscriber_loses_nothing_and_keeps_little(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds one batch, and reads the rest when it gets there."""
    monkeypatch.setattr(reader, "BATCH", 10)
    following = log.subscribe(0)
    for _ in range(100):
        log.transact(appending("run/a", finished("x" * 100))).result()
    found = []
    for event in following:
        found.append(event.position)
        assert len(following._ready) < 10
        if event.position == 101:
            break
    assert found == list(range(1, 102))


def test_many_subscribers_each_hear_everything(log: EventLog) -> None:
    """While many callers append."""
    heard: list[list[int]] = [[] for _ in range(5)]
    subscriptions = [log.subscribe(0) for _ in heard]

    def listen(number: int) -> None:
        for event in subscriptions[number]:
            heard[number].append(event.position)
            if event.position == 201:
                return

    listeners = [threading.Thread(target=listen, args=(number,)) for number in range(5)]
    callers = [
        threading.Thread(
            target=lambda number=number: [log.transact(appending(f"run/{number}")).result() for _ in range(20)]
        )
        for number in range(10)
    ]
    for thread in listeners + callers:
        thread.start()
    for thread in listeners + callers:
        thread.join(30)
    assert heard == [list(range(1, 202))] * 5


def test_closing_a_subscription_wakes_its_waiter(log: EventLog) -> None:
    """The iterator ends."""
    following = log.subscribe(1)
    waiter = threading.Thread(target=lambda: list(following))
    waiter.start()
    following.close()
    following.close()
    waiter.join(30)
    assert not waiter.is_alive()
    assert following.next() is None


def test_closing_the_log_ends_its_subscriptions(tmp_path: Path) -> None:
    """Whoever waits returns."""
    log = opened(tmp_path / "home")
    following = log.subscribe(1)
    waiter = threading.Thread(target=lambda: list(following))
    waiter.start()
    log.close()
    waiter.join(30)
    assert not waiter.is_alive()
    with pytest.raises(StoreClosed):
        log.subscribe(0)


def test_a_log_that_is_closed_just_as_a_subscription_looks_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for one that waits already: nothing follows, and that is no error."""
    log = opened(tmp_path / "home")
    following = log.subscribe(1)
    read = log.batches

    def closed_meanwhile(after: int) -> Iterator[list[RecordedEvent]]:
        log.close()
        return read(after)

    monkeypatch.setattr(following, "_batches", closed_meanwhile)
    assert list(following) == []
    assert following.next() is None


def test_a_reader_sees_commits_of_another_handle(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks at a number of SQLite's, a few times a second, and reads only when that changed."""
    monkeypatch.setattr(follow, "POLL", 0.01)
    with LogReader.open(log.home.path) as beside, beside.subscribe(1) as following:
        assert following.next(0.05) is None
        log.transact(appending("run/a")).result()
        event = following.next(30)
        assert event is not None
        assert event.position == 2
        waiter = threading.Thread(target=lambda: list(following))
        waiter.start()
        following.close()
        waiter.join(30)
        assert not waiter.is_alive()


def test_what_a_thread_reads_with_is_not_ended_under_it() -> None:
    """Closed from another thread, a subscription first lets the look that is under way end."""
    looks, go_on = threading.Event(), threading.Event()
    ended: list[bool] = []

    def batches(_after: int) -> Iterator[list[RecordedEvent]]:
        looks.set()
        go_on.wait(30)
        ended.append(False)
        yield from ()

    following = follow.Subscription(0, batches, follow.Signal(), lambda: ended.append(True))
    threads = [threading.Thread(target=each) for each in (lambda: list(following), following.close)]
    for each in threads:
        each.start()
        assert looks.wait(30)
    threads[1].join(0.05)
    go_on.set()
    for each in threads:
        each.join(30)
    assert ended == [False, True]
