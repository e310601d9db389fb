"""Law 1: dropping every projection table and rebuilding gives equal rows."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runwright import Context, Engine, JsonObject, Retry, Uncertain, Workflow, seconds
from runwright.engine.embedded.holder import Holder
from runwright.engine.reading.reader import Reader
from runwright.eventstore.envelope import ANY
from runwright.eventstore.errors import StoreLayoutDiffers
from runwright.eventstore.events.run import RunPauseRequested
from runwright.eventstore.follow import Signal
from runwright.eventstore.log import LogReader, Tx
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.runs import RUNS
from runwright.projections.rebuild import rebuild
from runwright.projections.replay import rows_of_run
from runwright.projections.sql_rows import SqlRows
from runwright.projections.verify import verify
from support.graphs import graph, node
from support.stage import Stage, queue_command


def busy() -> Workflow[JsonObject]:
    """A workflow that leaves rows in every table that Part A fills."""
    workflow: Workflow[JsonObject] = Workflow("busy", timeout=3600)

    @workflow.compute(retry=Retry(attempts=2, first=seconds(0.001)))
    def shaky(ctx: Context[JsonObject]) -> int:
        if ctx.attempt == 1:
            raise RuntimeError
        return 1

    @workflow.action(recovery="idempotent")
    def put(ctx: Context[JsonObject]) -> int:
        return ctx.visit

    nap = workflow.wait("nap", seconds(0.001))

    @workflow.action(recovery="manual")
    def send(ctx: Context[JsonObject]) -> int:
        if ctx.input.get("sure"):
            return 1
        raise Uncertain

    workflow.entry(shaky)
    workflow.then(shaky, put)
    workflow.then(put, nap)
    workflow.then(nap, send)
    return workflow


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A store after runs that completed, failed to settle, were cancelled and are still queued."""
    workflow = busy()
    with Engine.open(tmp_path / "state") as engine:
        engine.run(workflow, {"sure": True})
        engine.run(workflow, {"sure": False})
        engine.cancel(engine.run(workflow, {"sure": False}).run_id, reason="no")
        engine.start(workflow, {}, drive=False)
    return tmp_path / "state"


def contents(home: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every control table."""
    with closing(sqlite3.connect(home / "log.sqlite")) as connection:
        return {each.name: sorted(connection.execute(f"SELECT * FROM {each.name}"), key=repr) for each in CONTROL}


def test_rebuilt_rows_are_equal(home: Path) -> None:
    """Every row emptied out of every table comes back from the log alone."""
    before = contents(home)
    assert {name for name, rows in before.items() if rows} >= {
        "runs", "queue", "visits", "effects", "timers", "workers", "receipts", "terminal", "definitions", "hosts",
    }  # fmt: skip
    with closing(sqlite3.connect(home / "log.sqlite")) as connection:
        for each in CONTROL:
            connection.execute(f"DELETE FROM {each.name}")
        connection.commit()
    assert not any(contents(home).values())
    holder = Holder.open(home)
    rebuild(holder.log)
    holder.close()
    after = contents(home)
    epochs = {row[0] for row in before["hosts"]}
    after["hosts"] = [row for row in after["hosts"] if row[0] in epochs]
    assert after == before


def test_a_dropped_table_is_refused_and_not_guessed(home: Path) -> None:
    """A store without a table has another layout: nothing is made up, and its events stay readable."""
    with closing(sqlite3.connect(home / "log.sqlite")) as connection:
        connection.execute("DROP TABLE visits")
    with pytest.raises(StoreLayoutDiffers):
        Engine.open(home)


def test_an_edited_row_is_found_and_mended(home: Path) -> None:
    """A row that somebody changed is named with both values, and a rebuild takes it back."""
    before = contents(home)
    with closing(sqlite3.connect(home / "log.sqlite")) as connection:
        connection.execute("UPDATE runs SET status = 'failed' WHERE status = 'completed'")
        connection.commit()
    with Reader.open(home) as reader:
        (found,) = verify(reader.log).differences
        assert (found.projection, found.field, found.live, found.replayed) == ("runs", "status", "failed", "completed")
    holder = Holder.open(home)
    rebuild(holder.log, ["runs"])
    holder.close()
    assert contents(home)["runs"] == before["runs"]


def test_a_replay_equals_the_rows_after_every_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every commit, replaying to its position gives the rows that stood in the tables right after it."""
    copies: dict[int, dict[str, Any]] = {}
    tell = Signal.advance

    def copying(self: Signal, position: int) -> None:
        # On the writer's thread, between two commits: the tables cannot move under the copy.
        copies[position] = copy(opened[0])
        tell(self, position)

    def copy(log: LogReader) -> dict[str, Any]:
        with log.snapshot() as moment:
            rows = SqlRows(moment.connection)
            return {run.run_id: rows_of_run(rows, run.run_id) for run in rows.find(RUNS)}

    with Engine.open(tmp_path / "state") as engine:
        opened = [engine.reader.log]
        monkeypatch.setattr(Signal, "advance", copying)
        runs = [engine.start(busy(), {"sure": True}) for _ in range(3)]
        for run_id in runs:
            engine.wait(run_id)
        monkeypatch.setattr(Signal, "advance", tell)
        assert len(copies) > 5
        for position, copied in list(copies.items()):
            for run_id, rows in copied.items():
                assert engine.replay(run_id, at=position)["rows"] == rows, f"at {position}"


def test_a_unit_that_is_refused_leaves_no_row(scene: Stage) -> None:
    """What shares a commit with it is kept; of the refused one there is no event, and so no row."""
    flow = graph(node("one"))
    scene.queue(flow)
    scene.claim()
    gate = threading.Event()

    def broken(tx: Tx) -> None:
        tx.append("run/run-1", ANY, [RunPauseRequested(by="client:cli")], actor="client:cli")
        raise ZeroDivisionError

    held = scene.log.transact(lambda _: gate.wait(10))
    refused = scene.log.transact(broken)
    kept = scene.transitions.command(scene.caller(), queue_command(flow, "run-2"))
    gate.set()
    held.result(10)
    with pytest.raises(ZeroDivisionError):
        refused.result(10)
    kept.result(10)
    assert not scene.row(RUNS, "run-1").pause_requested
    assert verify(scene.log).ok
