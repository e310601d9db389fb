"""Runs on a stage that have ended and owe their session a word."""

from typing import Any

from runwright.engine.commands.client import CancelRun
from runwright.engine.commands.host import TimeOutRun
from runwright.engine.commands.worker import CompleteRun, ExitWorker, FailRun, FinishNode, StartNode
from runwright.eventstore.events.message import MessageQueued
from runwright.eventstore.values import Json
from runwright.projections.control.messages import MESSAGES
from support.graphs import graph, node
from support.scripted_session import ScriptedSession
from support.stage import Stage, settled

FLOW = graph(node("one"))


def failed_launch(scene: Stage, run_id: str = "run-1") -> ScriptedSession:
    """A launch that failed before the run ever started."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, run_id, {"canary": "c4n4ry"}, session="s1")
    pi.settle()
    fail = FailRun(outcome="failed", code="source_changed", phase="load", message="The file flow.py has changed.")
    scene.applied(scene.claim(run_id, ready=False), fail, ExitWorker(outcome="failed"))
    return pi


def ended(scene: Stage, end: str, run_id: str = "run-1", value: Json = 1) -> None:
    """A run of a session that ends."""
    ScriptedSession(scene)
    scene.queue(FLOW, run_id, session="s1")
    settled(scene.transitions.view("s1"))
    ScriptedSession(scene).settle()
    worker = scene.claim(run_id)
    match end:
        case "completed":
            done = FinishNode(path="one", visit=1, attempt=1, outcome="completed", output=value)
            scene.applied(worker, StartNode(path="one", visit=1, attempt=1), done, CompleteRun())
        case "failed":
            scene.applied(
                worker, FailRun(outcome="failed", code="node_failed", phase="execute", message="It broke.", error="why")
            )
        case "timed_out":
            scene.host(TimeOutRun(run_id=run_id))
        case _:
            scene.ask(CancelRun(run_id=run_id, reason="not needed"))


def content(scene: Stage, message: str) -> tuple[dict[str, Any], str]:
    """The facts and the text of a message."""
    row = scene.row(MESSAGES, message)
    (recorded,) = [each for each in scene.log.read(f"run/{row.run_id}") if each.position == row.content]
    event = recorded.event
    assert isinstance(event, MessageQueued)
    assert event.content is not None
    assert event.text is not None
    assert isinstance(event.content.value, dict)
    return event.content.value, str(event.text.value)
