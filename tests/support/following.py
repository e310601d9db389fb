"""Runs that others may follow: one at a checkpoint, one at a boundary, one that failed, and a model that asks."""

from typing import Any

from runwright.engine.commands.client import Caller
from runwright.engine.commands.worker import ExitWorker, FailRun, FinishNode, OpenRequest, ParkRun, StartNode
from runwright.engine.results import Result
from runwright.eventstore.envelope import ANY
from runwright.eventstore.events.run import RunEligible
from support.graphs import graph, node
from support.stage import Stage, settled

ONE = "run-1"
FLOW = graph(node("first"), node("ask", "checkpoint"), node("last"))
MODEL = Caller(client="pi:s-1", key="model", actor="client:pi", person=False)


def ask_at(scene: Stage, run_id: str = ONE, path: str = "ask") -> str:
    """Open a checkpoint's request and park behind it, in one list; answer the request."""
    values = scene.applied(
        scene.last,
        StartNode(path=path, visit=1, attempt=1),
        OpenRequest(
            path=path, visit=1, attempt=1, kind="checkpoint", prompt="Go on?", contract={}, presentation={"a": 1}
        ),
        ParkRun(reason="waiting"),
        ExitWorker(outcome="parked"),
    )
    return str(values[1])


def at_checkpoint(scene: Stage, **more: Any) -> str:
    """A run that finished its first node and waits at its checkpoint."""
    scene.queue(FLOW, **more)
    worker = scene.claim()
    scene.applied(
        worker,
        StartNode(path="first", visit=1, attempt=1),
        FinishNode(path="first", visit=1, attempt=1, outcome="completed", next="ask", output={"x": 1}),
    )
    return ask_at(scene)


def at_boundary(scene: Stage, run_id: str = ONE) -> None:
    """Let a session's run go on, as a boundary of its session does."""
    eligible = [RunEligible(cause="boundary")]
    settled(scene.log.transact(lambda tx: tx.append(f"run/{run_id}", ANY, eligible, actor="test")))


def as_model(scene: Stage, command: Any, key: str) -> Result[Any]:
    """Ask as a model of a session."""
    return settled(
        scene.transitions.command(Caller(client="pi:s-1", key=key, actor="client:pi", person=False), command)
    )


def fail(scene: Stage, run_id: str) -> None:
    """Fail a run in its first node, always in the same way."""
    worker = scene.claim(run_id)
    scene.applied(
        worker,
        StartNode(path="first", visit=1, attempt=1),
        FinishNode(path="first", visit=1, attempt=1, outcome="failed", code="node_failed", error="the same"),
        FailRun(outcome="failed", code="node_failed", phase="execute", message="It failed.", error="the same"),
        ExitWorker(outcome="finished"),
    )
