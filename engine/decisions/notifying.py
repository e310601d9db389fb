"""Notifications: what a run tells its session on the way, without starting a turn."""

from runwright.engine.commands.worker import MAX_NOTIFICATION, QueueNotification
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import NodeFacts
from runwright.engine.decisions.message import NOTIFICATION_SCHEMA
from runwright.engine.results import Adopted, Conflict
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.message import MessageQueued
from runwright.eventstore.values import Json


def decide_notify(facts: NodeFacts, command: QueueNotification, order: int, known: bool) -> Decision[str]:
    """Decide whether a notification is queued: one a visit, so that a node that runs again tells nothing twice.

    Args:
        facts: The run and the open attempt.
        command: What the worker has to tell.
        order: The next place among the session's messages.
        known: Whether this visit's notification is there already.
    """
    of, run = facts.of, facts.of.run
    target, spec = facts.target, facts.definition.nodes.get(command.path)
    if target is None or not target.open or (target.visits, target.attempt) != (command.visit, command.attempt):
        return broken("attempt_not_open", node=run.node, visit=run.visit, attempt=run.attempt)
    if spec is None or spec.kind != "notify" or run.session is None:
        return broken("no_session", node=command.path)
    message = notification_id(of.run.run_id, run.step_base + run.steps)
    if known:
        return Adopted(message, of.revision)
    size = len(command.text.encode("utf-8", "surrogatepass"))
    if size > MAX_NOTIFICATION:
        return Conflict("payload_too_large", {"what": "notification", "limit": MAX_NOTIFICATION, "size": size})
    content: dict[str, Json] = {
        "schema": NOTIFICATION_SCHEMA,
        "messageId": message,
        "runId": run.run_id,
        "workflow": run.workflow,
        "node": command.path,
        "kind": spec.notice or "interim",
    }
    queued = MessageQueued(
        message=message,
        kind="notification",
        session=run.session,
        order=order,
        source=run.run_id,
        starts_turn=False,
        content=Content.json(content),
        text=Content.text(command.text),
    )
    return Decided(message, (queued,))


def notification_id(run_id: str, step: int) -> str:
    """The message of a notify node: a run's steps are numbered, and each visit is one."""
    return f"notification:{run_id}:{step}"
