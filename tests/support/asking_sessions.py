"""A run on a stage that holds a session, and one that has asked it."""

from typing import Any

from runwright.engine.commands.worker import AskSession, StartNode
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.requests import REQUESTS
from support.graphs import graph, node
from support.scripted_session import ScriptedSession
from support.stage import Stage

FLOW = graph(node("ask", "agent", attempts=2), node("end"))
ASK = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="Do it", contract={"type": "string"})


def queued(scene: Stage, run_id: str = "run-1", session: str = "s1", **more: Any) -> ScriptedSession:
    """A run that waits for its session's boundary."""
    pi = ScriptedSession(scene, session)
    scene.queue(FLOW, run_id, session=session, **more)
    return pi


def asked(scene: Stage, run_id: str = "run-1", session: str = "s1", **how: Any) -> ScriptedSession:
    """A run that waits for its session's answer."""
    pi = queued(scene, run_id, session)
    pi.settle()
    limited = AskSession(
        **{**{n: getattr(ASK, n) for n in ("path", "visit", "attempt", "kind", "prompt", "contract")}, **how}
    )
    scene.applied(scene.claim(run_id), StartNode(path="ask", visit=1, attempt=1), limited)
    return pi


def step(scene: Stage, ordinal: int = 1) -> str:
    """The ID of a step message of the only request."""
    (request,) = scene.rows(REQUESTS)
    return f"step:{request.request}:{ordinal}"


def states(scene: Stage) -> dict[str, str]:
    """The state of each message by the end of its ID."""
    return {each.message: each.state for each in scene.rows(MESSAGES)}
