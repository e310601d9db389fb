"""Law 8: a worker that vanishes where its run stood at launch is not launched again by the holder."""

import pytest

from runwright.engine.commands.client import PauseRun, ResumeRun
from runwright.engine.commands.host import RecordExit
from runwright.engine.commands.worker import FinishNode, StartNode, UpdateNode
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS
from runwright.projections.control.workers import WORKERS
from support.graphs import graph, node
from support.stage import Stage

FLOW = graph(*(node(f"n{number}") for number in range(5)))
ONE = "run-1"


def launches(scene: Stage, outcome: str) -> int:
    """Launch a node that kills its worker for as long as the run goes on by itself."""
    count = 0
    while scene.row(QUEUE, ONE).eligible:
        assert count < 10
        worker = scene.claim()
        count += 1
        scene.tell(worker, StartNode(path="n0", visit=1, attempt=1))
        scene.tell(worker, UpdateNode(path="n0", visit=1, attempt=1, key="k", update=count))
        scene.host(RecordExit(run_id=ONE, worker=worker.worker, outcome=outcome))  # type: ignore[arg-type]
    return count


@pytest.mark.parametrize(("outcome", "most"), [("crashed", 2), ("timed_out", 2), ("orphaned", 3)])
def test_a_node_that_kills_its_worker_is_not_launched_for_ever(scene: Stage, outcome: str, most: int) -> None:
    """C18: two launches by itself; a holder's death is forgiven once per progress value. Updates are no progress."""
    scene.queue(FLOW)
    assert launches(scene, outcome) == most
    assert scene.row(QUEUE, ONE).reason == "worker_no_progress"
    assert scene.row(RUNS, ONE).status == "running"


def test_one_explicit_resume_gives_one_more_try(scene: Stage) -> None:
    """And no more."""
    scene.queue(FLOW)
    launches(scene, "crashed")
    scene.ask(ResumeRun(run_id=ONE))
    assert launches(scene, "crashed") == 1


def test_a_chain_that_gets_further_each_time_goes_through(scene: Stage) -> None:
    """C18: each launch makes durable progress, then kills its worker."""
    scene.queue(FLOW)
    for number in range(5):
        assert scene.row(QUEUE, ONE).eligible
        worker = scene.claim()
        path = f"n{number}"
        scene.applied(
            worker,
            StartNode(path=path, visit=1, attempt=1),
            FinishNode(path=path, visit=1, attempt=1, outcome="completed", next=path, output=number),
        )
        scene.host(RecordExit(run_id=ONE, worker=worker.worker, outcome="crashed"))
    assert scene.row(QUEUE, ONE).reason == "worker_crashed"


def test_a_worker_that_was_never_ready_made_nothing_of_its_launch(scene: Stage) -> None:
    """What people did meanwhile is no progress of it: it is not launched again, however far the run had come."""
    scene.queue(FLOW)
    scene.applied(scene.claim(), StartNode(path="n0", visit=1, attempt=1))
    scene.host(RecordExit(run_id=ONE, worker=scene.last.worker, outcome="crashed"))
    worker = scene.claim(ready=False)
    scene.ask(PauseRun(run_id=ONE))
    scene.ask(ResumeRun(run_id=ONE))
    assert scene.row(RUNS, ONE).progress > scene.row(WORKERS, worker.worker).progress
    scene.host(RecordExit(run_id=ONE, worker=worker.worker, outcome="crashed"))
    assert (scene.row(QUEUE, ONE).reason, scene.row(QUEUE, ONE).eligible) == ("worker_no_progress", False)
