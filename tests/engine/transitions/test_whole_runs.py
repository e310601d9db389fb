"""Whole runs through the one interface, from the queue to the end."""

from runwright.engine.commands.client import PauseRun, ResumeRun
from runwright.engine.commands.worker import (
    BeginEffect,
    CompleteRun,
    EffectGrant,
    ExitWorker,
    FinishNode,
    ParkRun,
    Ready,
    ReserveEffect,
    SettleEffect,
    StartNode,
)
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from support.graphs import graph, node
from support.stage import Stage

CHAIN = graph(node("one"), node("two", "action", contract="idempotent"), node("three"))


def test_a_run_goes_through_every_state(scene: Stage) -> None:
    """Queue, claim, three nodes with an effect, completion and the worker's exit, one commit a step."""
    scene.queue(CHAIN, value={"a": 1})
    assert scene.row(QUEUE, "run-1").eligible
    worker = scene.claim(ready=False)
    scene.applied(worker, Ready(), StartNode(path="one", visit=1, attempt=1))
    _, _, grant, application = scene.applied(
        worker,
        FinishNode(path="one", visit=1, attempt=1, outcome="completed", next="two", output=1),
        StartNode(path="two", visit=1, attempt=1),
        ReserveEffect(path="two", visit=1, request={"to": "x"}),
        BeginEffect(path="two", visit=1),
    )
    assert isinstance(grant, EffectGrant)
    assert application == 1
    scene.applied(
        worker,
        SettleEffect(path="two", visit=1, application=1, outcome="applied", result="done"),
        FinishNode(path="two", visit=1, attempt=1, outcome="completed", next="three", output="done"),
        StartNode(path="three", visit=1, attempt=1),
    )
    scene.applied(
        worker,
        FinishNode(path="three", visit=1, attempt=1, outcome="completed", output=[1, 2]),
        CompleteRun(),
        ExitWorker(outcome="finished"),
    )
    run, terminal = scene.row(RUNS, "run-1"), scene.row(TERMINAL, "run-1")
    assert (run.status, run.steps, run.progress) == ("completed", 3, 8)
    assert scene.row(QUEUE, "run-1").owner is None
    assert terminal.fingerprint is not None
    event = scene.log.event(terminal.output or 0)
    assert event is not None
    assert event.type == "node.finished"


def test_pause_at_the_boundary_and_resume_in_the_next_generation(scene: Stage) -> None:
    """A pause is asked for, the next start is refused, the worker parks, and a resume makes it eligible."""
    scene.queue(CHAIN)
    worker = scene.claim()
    scene.applied(worker, StartNode(path="one", visit=1, attempt=1))
    assert isinstance(scene.ask(PauseRun(run_id="run-1")), Applied)
    finished, refused = scene.tell(
        worker,
        FinishNode(path="one", visit=1, attempt=1, outcome="completed", next="two", output=1),
        StartNode(path="two", visit=1, attempt=1),
    )
    assert isinstance(finished, Applied)
    assert isinstance(refused, Conflict)
    assert refused.code == "paused"
    scene.applied(worker, ParkRun(reason="paused"), ExitWorker(outcome="parked"))
    assert scene.row(RUNS, "run-1").paused
    assert isinstance(scene.ask(ResumeRun(run_id="run-1")), Applied)
    again = scene.claim()
    assert again.generation == 2
    scene.applied(again, StartNode(path="two", visit=1, attempt=1))


def test_a_resumed_unfinished_visit_writes_no_second_start(scene: Stage) -> None:
    """The next generation adopts the open attempt."""
    scene.queue(CHAIN)
    worker = scene.claim()
    scene.applied(worker, StartNode(path="one", visit=1, attempt=1))
    scene.applied(worker, ParkRun(reason="host_stopped"), ExitWorker(outcome="parked"))
    again = scene.claim()
    before = scene.revision()
    (result,) = scene.tell(again, StartNode(path="one", visit=1, attempt=1))
    assert isinstance(result, Adopted)
    assert scene.revision() == before
