"""C16: the store fails for a moment while a new holder recovers; no run stays behind."""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from runwright import Context, Engine, JsonObject, Workflow
from runwright.engine.commands.worker import FinishNode, StartNode
from runwright.engine.embedded import driving, recovery
from runwright.engine.embedded.holder import Holder
from runwright.engine.transitions.store import Transitions
from runwright.eventstore import database
from runwright.eventstore.log import EventLog
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT
from support.sound import check_sound
from support.stage import Stage, TestClock

RUNS = 50

flow = Workflow("two", input=JsonObject)


@flow.compute
def one(ctx: Context[JsonObject]) -> int:
    """The first."""
    return 1


@flow.compute
def two(ctx: Context[JsonObject]) -> int:
    """The second."""
    return 2


flow.entry(one)
flow.then(one, two)


@pytest.fixture
def wreck(tmp_path: Path) -> Path:
    """A store whose holder died with 50 runs under way, some of them between two nodes."""
    home = tmp_path / "home"
    with Engine.open(home) as engine:
        runs = [engine.start(flow, {}, drive=False) for _ in range(RUNS)]
    clock = TestClock()
    clock.us = time.time_ns() // 1000
    log = EventLog.open(home, layout=LAYOUT, control=ControlRows(), clock=clock.now)
    scene = Stage(log, clock, epoch="dead")
    for number, run_id in enumerate(runs):
        worker = scene.claim(run_id)
        scene.applied(worker, StartNode(path="one", visit=1, attempt=1))
        if number % 2:
            done = FinishNode(path="one", visit=1, attempt=1, outcome="completed", next="two", output=1)
            scene.applied(worker, done)
    log.close()
    return home


def events(home: Path) -> list[str]:
    """The types of all events but those of holders themselves."""
    with closing(sqlite3.connect(home / "log.sqlite")) as connection:
        return [str(row[0]) for row in connection.execute("SELECT type FROM events WHERE stream != 'host'")]


def test_c16_a_lock_held_outside_while_recovering(wreck: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It outlasts every try at the opening; once it is gone all 50 go on, without anybody's word."""
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 50)
    monkeypatch.setattr(recovery, "TRIES", 2)
    monkeypatch.setattr(recovery, "PAUSE", 0.01)
    monkeypatch.setattr(driving, "RECOVER_AGAIN", 0.1)
    outside = sqlite3.connect(wreck / "log.sqlite", isolation_level=None, check_same_thread=False)
    begin = Transitions.host
    held: list[threading.Timer] = []

    def locked(self: Transitions, command: object) -> object:
        if not held:
            outside.execute("BEGIN IMMEDIATE")
            held.append(threading.Timer(1.5, outside.rollback))
            held[0].start()
        return begin(self, command)  # type: ignore[arg-type]

    monkeypatch.setattr(Transitions, "host", locked)
    with Engine.open(wreck, workflows=[flow]) as engine:
        holder = engine._engine._holder
        assert len(holder.unrecovered) == RUNS, "the lock outlasts the tries"
        runs = [str(each["run_id"]) for each in engine.query("runs", limit=RUNS).items]
        for run_id in runs:
            assert engine.wait(run_id, until="waiting", timeout=60).status == "completed"
        assert holder.unrecovered == frozenset()
    held[0].join()
    outside.close()
    check_sound(wreck)


def test_recovering_twice_adds_nothing_but_the_epoch(wreck: Path) -> None:
    """The second holder in a row finds nothing to do."""
    Holder.open(wreck).close()
    once = events(wreck)
    assert once.count("run.recovered") + once.count("run.parked") >= RUNS
    Holder.open(wreck).close()
    assert events(wreck) == once
