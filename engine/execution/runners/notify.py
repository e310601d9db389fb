"""The runner of notify nodes: what the session is told on the way, or where there is none whoever watches."""

from runwright.engine.commands.worker import MAX_NOTIFICATION, QueueNotification, UpdateNode, WorkerTransition
from runwright.engine.execution.failures import Failure, NodeFailure
from runwright.engine.execution.runners.texts import text_of
from runwright.engine.execution.visit import Ended, Visit
from runwright.engine.execution.walk import Walk
from runwright.eventstore.events.node import NOTIFICATION
from runwright.eventstore.values import Json, encode


async def run_notify(walk: Walk, visit: Visit) -> Ended:
    """Tell it in the transaction that finishes the node."""
    await walk.commit(*visit.opening())
    try:
        text = await text_of(walk, visit, "text")
    except NodeFailure as error:
        return Ended.badly(error.failure)
    update: Json = {"message": text, "notice": visit.spec.notice or "interim"}
    if len(encode(update).encode()) > MAX_NOTIFICATION:
        error_text = f"a notification has at most {MAX_NOTIFICATION} bytes when encoded"
        return Ended.badly(Failure(code="payload_too_large", error=error_text))
    path, number, attempt = visit.path, visit.number, visit.attempt
    tell: WorkerTransition = UpdateNode(path=path, visit=number, attempt=attempt, key=NOTIFICATION, update=update)
    if walk.state.session is not None:
        tell = QueueNotification(path=path, visit=number, attempt=attempt, text=text)
    return Ended(outcome="completed", settles=(tell,))
