"""Opening stores in tests, and tools to put their writer into trouble."""

import hashlib
import sqlite3
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from runwright.eventstore import chain, database
from runwright.eventstore.envelope import ANY, Appended, Head, RecordedEvent
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.timer import TimerFired
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.queue import Chore
from runwright.eventstore.transaction import Tx
from support.rows import LAYOUT, Counts

FIRED = TimerFired(kind="wait")


def finished(value: Any = 1) -> Event:
    """Answer an event with a private value."""
    return NodeFinished(path="a", visit=1, attempt=1, outcome="completed", output=Content.json(value))


def opened(home: Path, control: Counts | None = None, **options: Any) -> EventLog:
    """Open a store that counts its streams' events, with a clock that ticks."""
    ticks = count(1_800_000_000_000_000)
    options.setdefault("clock", lambda: next(ticks))
    return EventLog.open(home, layout=LAYOUT, control=control or Counts(), **options)


def appending(stream: str, *events: Event) -> Callable[[Tx], Appended]:
    """Answer a unit that appends to a stream, whatever its version."""
    return lambda tx: tx.append(stream, ANY, events or [FIRED], actor="client:test")


def on_writer(log: EventLog, do: Callable[[sqlite3.Connection], Any]) -> Any:
    """Do something on the writer's connection, outside a transaction."""
    writer = log._writer
    assert writer is not None
    chore = Chore(lambda: do(database.driver(writer._connection)))
    writer.queue.put_chore(chore)
    return chore.future.result(timeout=30)


def digests(folder: Path) -> dict[str, str]:
    """Answer a digest of every file below a folder, by name."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def walked(log: LogReader) -> list[RecordedEvent]:
    """Read everything, checking positions, versions and hashes on the way."""
    previous = chain.genesis(log.log_id)
    versions: dict[str, int] = {}
    found = list(log.read_all())
    for number, event in enumerate(found, start=1):
        assert event.position == number
        assert event.version == versions.get(event.stream, 0) + 1
        versions[event.stream] = event.version
        assert chain.hash_after(previous, event) == event.hash
        if event.body is not None and event.salt is not None:
            assert chain.body_digest(event.salt, event.body) == event.digest
        previous = event.hash
    assert log.head() == Head(len(found), previous)
    return found
