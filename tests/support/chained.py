"""Logs in memory: events with a right chain, for tests that need no store."""

import hashlib
from collections.abc import Sequence

from attrs import evolve

from runwright.eventstore.chain import body_digest, event_hash, genesis
from runwright.eventstore.codec import encode_event
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.log import LogCreated
from runwright.eventstore.events.node import NodeFinished, NodeStarted
from runwright.eventstore.events.run import RunCompleted, RunInput, RunQueued
from runwright.eventstore.transfer.jsonl import ExportHead, write_event, write_head

LOG_ID = "01JZ0000000000000000"
AT = 1_800_000_000_000_000


def chained(steps: Sequence[tuple[str, Event]], log_id: str = LOG_ID) -> list[RecordedEvent]:
    """Chain events as the writer would, with salts that depend on nothing but the position."""
    previous = genesis(log_id)
    versions: dict[str, int] = {}
    recorded: list[RecordedEvent] = []
    for position, (stream, event) in enumerate(steps, start=1):
        versions[stream] = versions.get(stream, 0) + 1
        data, body = encode_event(event)
        salt = None if body is None else hashlib.sha256(str(position).encode()).digest()[:16]
        digest = None if body is None or salt is None else body_digest(salt, body)
        generation = position if stream.startswith("run/") else None
        command = None if generation is None else f"key-{position}"
        header = (position, stream, versions[stream], event.type, AT + position, "operator", generation, command)
        previous = event_hash(previous, *header, data, digest)
        recorded.append(RecordedEvent(*header, data, digest, previous, salt, body))
    return recorded


def log_created(log_id: str = LOG_ID) -> tuple[str, Event]:
    """The first event of a log."""
    return "log", LogCreated(product="runwright 0.1.0", schema=1, layout="0" * 64, log_id=log_id)


def run_events(run: str, word: str = "canary", root: str | None = None) -> list[tuple[str, Event]]:
    """A short run whose private values hold a word."""
    stream = f"run/{run}"
    events: list[Event] = [
        RunQueued(workflow="w", reference="w.py:w", definition="0" * 64, root=root or run, max_steps=9),
        RunInput(input=Content.json({"task": word, "n": [1, 2.5, None, True]}), key=Content.text("ab" * 32)),
        NodeStarted(path="a", visit=1, attempt=1, kind="compute"),
        NodeFinished(path="a", visit=1, attempt=1, outcome="completed", output=Content.json({"said": f"{word} é\n"})),
        RunCompleted(output=4),
    ]
    return [(stream, event) for event in events]


def small_log() -> list[RecordedEvent]:
    """A log of one creation and two interleaved runs."""
    first, second = run_events("01JZRUNA000000000000"), run_events("01JZRUNB000000000000", "other")
    mixed = [step for pair in zip(first, second, strict=True) for step in pair]
    return chained([log_created(), *mixed])


def native(events: Sequence[RecordedEvent], *, with_values: bool = True, log_id: str = LOG_ID) -> list[bytes]:
    """The lines of a whole native export, written by hand from events in memory."""
    head = ExportHead(log_id=log_id, first=1, last=events[-1].position, previous=genesis(log_id))
    return [write_head(head), *(write_event(event, with_values=with_values) for event in events)]


def native_part(events: Sequence[RecordedEvent], chosen: Sequence[int]) -> list[bytes]:
    """The lines of a part: the events at some positions, each with the hash before it."""
    before = {event.position + 1: event.hash for event in events} | {1: genesis(LOG_ID)}
    part = [event for event in events if event.position in set(chosen)]
    first, last = part[0].position, part[-1].position
    head = ExportHead(log_id=LOG_ID, first=first, last=last, previous=before[first], complete=False)
    return [
        write_head(head),
        *(write_event(event, with_values=True, previous=before[event.position]) for event in part),
    ]


def rechained(events: Sequence[RecordedEvent]) -> list[RecordedEvent]:
    """Chain events anew, as somebody would who can rewrite everything."""
    previous, fresh = genesis(LOG_ID), []
    for e in events:
        header = (e.position, e.stream, e.version, e.type, e.at, e.actor, e.generation, e.command)
        previous = event_hash(previous, *header, e.data, e.digest)
        fresh.append(evolve(e, hash=previous))
    return fresh


def erased(event: RecordedEvent) -> RecordedEvent:
    """The same event without its private values."""
    return evolve(event, salt=None, body=None)
