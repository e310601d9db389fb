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
from runwright.eventstore.errors import UnusableHome
from runwright.eventstore.log import EventLog
from runwright.eventstore.queue import Chore
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


def test_c16_a_file_that_cannot_be_written_while_recovering(wreck: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read-only from the first step of the recovery on, for longer than every try; afterwards all 50 go on."""
    monkeypatch.setattr(recovery, "TRIES", 2)
    monkeypatch.setattr(recovery, "PAUSE", 0.01)
    monkeypatch.setattr(driving, "RECOVER_AGAIN", 0.1)
    ask = Transitions.host
    logs: list[EventLog] = []

    def only_read(log: EventLog, on: int) -> None:
        """Have SQLite refuse every write of the holder's connection, as for a file without write permission."""
        assert log._writer is not None
        driver = log._writer._driver
        chore = Chore(lambda: driver.execute(f"PRAGMA query_only={on}").fetchall())
        log._writer.queue.put_chore(chore)
        chore.future.result(30)

    def read_only(self: Transitions, command: object) -> object:
        if not logs:
            logs.append(self._log)
            only_read(self._log, 1)
        return ask(self, command)  # type: ignore[arg-type]

    monkeypatch.setattr(Transitions, "host", read_only)
    with Engine.open(wreck, workflows=[flow]) as engine:
        runs = [str(each["run_id"]) for each in engine.query("runs", limit=RUNS).items]
        assert len(engine._engine._holder.unrecovered) == RUNS
        assert {engine.status(run_id).queue_state for run_id in runs} == {"running"}
        only_read(logs[0], 0)
        for run_id in runs:
            assert engine.wait(run_id, until="waiting", timeout=60).status == "completed"
        assert engine._engine._holder.unrecovered == frozenset()
    check_sound(wreck)


@pytest.mark.parametrize("mode", [0o400, 0o000])
def test_c16_a_file_that_may_not_be_opened(wreck: Path, mode: int) -> None:
    """Refused by type and without a trace while that lasts, and nothing of it is left; then every run goes on."""
    file = wreck / "log.sqlite"
    before = file.read_bytes()
    file.chmod(mode)
    with pytest.raises(UnusableHome):
        Holder.open(wreck)
    assert not [each.name for each in wreck.iterdir() if each.name.endswith(("-wal", "-shm"))]
    file.chmod(0o600)
    assert file.read_bytes() == before
    with Engine.open(wreck, workflows=[flow]) as engine:
        for each in engine.query("runs", limit=RUNS).items:
            assert engine.wait(str(each["run_id"]), until="waiting", timeout=60).status == "completed"
    check_sound(wreck)


def test_recovering_twice_adds_nothing_but_the_epoch(wreck: Path) -> None:
    """The second holder in a row finds nothing to do."""
    Holder.open(wreck).close()
    once = events(wreck)
    assert once.count("run.recovered") + once.count("run.parked") >= RUNS
    Holder.open(wreck).close()
    assert events(wreck) == once
