"""Law 2: nothing is acknowledged before it is committed."""

import sqlite3
from concurrent.futures import Future
from contextlib import closing

from runwright.engine.commands.worker import StartNode
from runwright.engine.results import Result
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
