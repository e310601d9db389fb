"""Law 2: nothing is acknowledged before it is committed."""

import multiprocessing
import signal
import sqlite3
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

from runwright import Engine
from runwright.engine.commands.worker import StartNode
from runwright.engine.reading.reader import Reader
from runwright.engine.results import Result
from support.crash_world import KEY, RUNS, safe, start_and_tell
from support.graphs import graph, node
from support.stage import Stage, queue_command

FLOW = graph(node("one"))


def test_a_run_that_somebody_was_told_of_can_be_read_by_others(scene: Stage) -> None:
    """When the answer resolves, another connection sees the events in the file."""
    seen: list[int] = []

    def look(answer: "Future[Result[object]]") -> None:
        assert answer.done()
        with closing(sqlite3.connect(f"file:{scene.log.home.log}?mode=ro", uri=True)) as other:
            seen.extend(other.execute("SELECT count(*) FROM events WHERE stream = 'run/run-1'").fetchone())

    answer = scene.transitions.command(scene.caller(), queue_command(FLOW, "run-1"))
    answer.result(5)
    look(answer)
    assert seen == [3]


def test_a_nodes_function_runs_only_after_its_start_is_committed(scene: Stage) -> None:
    """The answer of the fence comes with the event in the file."""
    scene.queue(FLOW)
    scene.applied(scene.claim(), StartNode(path="one", visit=1, attempt=1))
    with closing(sqlite3.connect(f"file:{scene.log.home.log}?mode=ro", uri=True)) as other:
        (count,) = other.execute("SELECT count(*) FROM events WHERE type = 'node.started'").fetchone()
    assert count == 1


def test_every_id_that_was_told_is_there(tmp_path: Path) -> None:
    """Whatever the killed program had answered, the store has; and the same keys answer the same runs."""
    context = multiprocessing.get_context("forkserver")
    mine, theirs = context.Pipe(duplex=False)
    program = context.Process(target=start_and_tell, args=(str(tmp_path / "state"), theirs))
    program.start()
    theirs.close()
    told: list[str] = []
    while True:
        try:
            told.append(mine.recv())
        except EOFError:
            break
    mine.close()
    program.join(60)
    assert program.exitcode == -signal.SIGKILL
    program.close()
    assert len(told) == RUNS
    with Reader.open(tmp_path / "state") as reader:
        assert [reader.status(run_id).run_status for run_id in told] == ["queued"] * RUNS
    with Engine.open(tmp_path / "state") as engine:
        assert [engine.start(safe, {}, key=f"{KEY}-{number}", drive=False) for number in range(RUNS)] == told
