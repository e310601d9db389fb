"""Figures of the event log alone: appends by one caller and by many, and replay."""

import json
import sqlite3
import time
from collections import deque
from concurrent.futures import Future
from pathlib import Path

from benchmarks.workloads import finished_runs
from runwright.eventstore.envelope import ANY, Appended
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.node import NodeUpdated
from runwright.eventstore.log import EventLog
from runwright.eventstore.transaction import Tx
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT
from runwright.projections.replay import replay_log

EVENTS_ALONE = 1_000
EVENTS_TOGETHER = 20_000
CALLERS = 64
REPLAYED_RUNS = 600


def _unit(number: int) -> "_Unit":
    event = NodeUpdated(
        path="work", visit=1, attempt=1, key="overall", number=number, update=Content.json({"completed": number})
    )
    return _Unit(f"run/bench{number % 50:04d}", event)


class _Unit:
    """A caller's unit: one event at the end of one of fifty streams."""

    def __init__(self, stream: str, event: NodeUpdated) -> None:
        self._stream = stream
        self._event = event

    def __call__(self, tx: Tx) -> Appended:
        return tx.append(self._stream, ANY, [self._event], actor="client:bench")


def _open(folder: Path) -> EventLog:
    return EventLog.open(folder / "state", layout=LAYOUT, control=ControlRows())


def appends_alone(folder: Path) -> float:
    """Events a second by one caller who waits for each commit."""
    log = _open(folder)
    try:
        started = time.perf_counter()
        for number in range(EVENTS_ALONE):
            log.transact(_unit(number)).result()
        return EVENTS_ALONE / (time.perf_counter() - started)
    finally:
        log.close()


def appends_together(folder: Path) -> float:
    """Events a second by 64 callers, each of whom waits for its commit before it hands in the next."""
    log = _open(folder)
    try:
        waiting: deque[Future[Appended]] = deque()
        started = time.perf_counter()
        for number in range(EVENTS_TOGETHER):
            if len(waiting) == CALLERS:
                waiting.popleft().result()
            waiting.append(log.transact(_unit(number)))
        for future in waiting:
            future.result()
        return EVENTS_TOGETHER / (time.perf_counter() - started)
    finally:
        log.close()


def replayed(folder: Path) -> float:
    """Replay's speed as a share of reading the same columns and parsing each row's facts with `json`."""
    home = folder / "state"
    finished_runs(home, REPLAYED_RUNS)
    floor = _read_and_parse(home / "log.sqlite")
    log = _open(folder)
    try:
        started = time.perf_counter()
        replay_log(log)
        return floor / (time.perf_counter() - started)
    finally:
        log.close()


def _read_and_parse(path: Path) -> float:
    """Seconds that reading what a replay reads, and parsing each row's facts, takes the standard library."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        started = time.perf_counter()
        rows = connection.execute(
            "SELECT position, stream, version, type, at, actor, generation, command, data, digest, hash "
            "FROM events ORDER BY position"
        )
        parsed = [(row, json.loads(row[8])) for row in rows]
        elapsed = time.perf_counter() - started
        assert parsed
        return elapsed
    finally:
        connection.close()
