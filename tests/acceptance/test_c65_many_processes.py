"""C65: one process drives, many read and some want to write, while somebody outside holds SQLite's lock."""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

from runwright import Context, Engine, JsonObject, Workflow
from support.reading_on import context, read
from support.sound import check_sound

READERS, RUNS = 4, 15


def test_c65_one_writes_and_many_read(home: Path) -> None:
    """C65: readers never fail, a second writer is told who holds the store, and everything answered is in the log."""
    workflow: Workflow[JsonObject] = Workflow("short")

    @workflow.compute
    def one(ctx: Context[JsonObject]) -> int:
        return 1

    @workflow.action(recovery="idempotent")
    def two(ctx: Context[JsonObject]) -> int:
        return ctx.output(one) + 1

    workflow.entry(one)
    workflow.then(one, two)
    done, said = context.Event(), context.Queue()
    outside_done = threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(home / "log.sqlite", isolation_level=None, timeout=30)) as outside:
            while not outside_done.wait(0.05):
                outside.execute("BEGIN IMMEDIATE")
                time.sleep(0.1)
                outside.execute("ROLLBACK")

    with Engine.open(home) as engine:
        engine.run(workflow, {})
        readers = [context.Process(target=read, args=(str(home), done, said)) for _ in range(READERS)]
        for each in readers:
            each.start()
        holder = threading.Thread(target=hold)
        holder.start()
        try:
            answered = {engine.start(workflow, {}) for _ in range(RUNS)}
            for run_id in answered:
                assert engine.wait(run_id, timeout=60).output == 2
        finally:
            outside_done.set()
            holder.join()
            done.set()
        found = [said.get(timeout=30) for _ in readers]
        for each in readers:
            each.join(30)
            each.close()
        assert [code for _, code in found] == ["store_in_use"] * READERS
        assert all(asked > 0 for asked, _ in found)
        assert answered <= {str(row["run_id"]) for row in engine.query("runs", limit=1000).items}
    check_sound(home)
