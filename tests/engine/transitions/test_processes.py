"""What a worker starts is named before it begins, and struck out once it is gone."""

import pytest
from attrs import evolve

from runwright.engine.commands.client import CancelRun
from runwright.engine.commands.host import RecordExit
from runwright.engine.commands.worker import (
    ExitWorker,
    ParkRun,
    RegisterProcess,
    StartNode,
    UnregisterProcess,
)
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.processes import PROCESSES
from support.graphs import graph, node
from support.stage import PROCESS, Stage

ONE = "run-1"
FLOW = graph(node("one"))
CHILD = evolve(PROCESS, pid=7)


def test_a_process_stands_in_the_log_while_it_may_live(scene: Stage) -> None:
    """Registering and unregistering are adopted when repeated, and are no progress of the run."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, RegisterProcess(process=CHILD))
    assert [each.worker for each in scene.rows(PROCESSES)] == [worker.worker]
    (again,) = scene.tell(worker, RegisterProcess(process=CHILD))
    assert isinstance(again, Adopted)
    scene.applied(worker, UnregisterProcess(process=CHILD))
    assert scene.rows(PROCESSES) == []
    (again,) = scene.tell(worker, UnregisterProcess(process=CHILD))
    assert isinstance(again, Adopted)


def test_a_worker_without_its_claim_starts_nothing_and_may_say_what_is_gone(scene: Stage) -> None:
    """After a cancel its programs end, and that is evidence."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, RegisterProcess(process=CHILD))
    scene.ask(CancelRun(run_id=ONE))
    (refused,) = scene.tell(worker, RegisterProcess(process=evolve(CHILD, pid=8)))
    assert isinstance(refused, Conflict)
    (gone,) = scene.tell(worker, UnregisterProcess(process=CHILD))
    assert isinstance(gone, Applied)


def test_a_process_belongs_to_the_worker_that_named_it(scene: Stage) -> None:
    """Another worker neither takes it over nor strikes it out."""
    scene.queue(FLOW)
    first = scene.claim()
    start = StartNode(path="one", visit=1, attempt=1)
    scene.applied(first, start, RegisterProcess(process=CHILD), ParkRun(reason="host_stopped"))
    second = scene.claim()
    for word in (RegisterProcess(process=CHILD), UnregisterProcess(process=CHILD)):
        (refused,) = scene.tell(second, word)
        assert isinstance(refused, Conflict)
        assert refused.code == "protocol_rejected"


@pytest.mark.parametrize("said", [False, True])
def test_the_observed_end_of_a_worker_strikes_out_what_it_started(scene: Stage, said: bool) -> None:
    """Whether or not it said itself how it ended; a repeat adds nothing."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, StartNode(path="one", visit=1, attempt=1), RegisterProcess(process=CHILD))
    if said:
        scene.applied(worker, ParkRun(reason="host_stopped"), ExitWorker(outcome="parked"))
    command = RecordExit(run_id=ONE, worker=worker.worker, outcome="crashed")
    assert isinstance(scene.host(command), Applied)
    assert scene.rows(PROCESSES) == []
    assert isinstance(scene.host(command), Adopted)
