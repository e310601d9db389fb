"""What coordinators of sessions ask: attaching, evidence, turns, and looking at a session."""

from typing import Literal

from runwright.engine.client.asking import Ask, Document, Steps, asked
from runwright.eventstore.values import JsonObject


def session_attach(session: str, *, agent: str, idle: bool = False, nothing_pending: bool = False) -> Steps[Document]:
    """Take a session as its coordinator, in a new epoch: `SessionAttached`.

    Args:
        session: The session.
        agent: What kind of agent it is.
        idle: Whether the agent takes no turn.
        nothing_pending: Whether no input waits for it; with ``idle`` this is a first report.
    """
    payload: JsonObject = {"session": session, "agent": agent, "idle": idle, "nothing_pending": nothing_pending}
    return asked(Ask(operation="session.attach", payload=payload))


def session_detach(session: str, epoch: str) -> Steps[Document]:
    """Leave a session: `SessionTold`."""
    return asked(Ask(operation="session.detach", payload={"session": session, "epoch": epoch}))


def session_settled(session: str, epoch: str, *, person_spoke: bool = False) -> Steps[Document]:
    """Say that the agent rests: `SessionTold`."""
    payload: JsonObject = {"session": session, "epoch": epoch, "person_spoke": person_spoke}
    return asked(Ask(operation="session.settled", payload=payload))


def session_report(
    session: str,
    epoch: str,
    *,
    message: str | None = None,
    entry: str | None = None,
    idle: bool,
    nothing_pending: bool,
    person_spoke: bool = False,
) -> Steps[Document]:
    """Say what the active branch holds of one message, and whether the agent rests: `SessionTold`.

    Args:
        session: The session.
        epoch: The coordinator's.
        message: The message that was looked for.
        entry: The entry that holds it; ``None`` where it is not there.
        idle: Whether the agent takes no turn.
        nothing_pending: Whether no input waits for it.
        person_spoke: Whether a person took a turn since the last report.
    """
    payload: JsonObject = {
        "session": session,
        "epoch": epoch,
        "message": message,
        "entry": entry,
        "idle": idle,
        "nothing_pending": nothing_pending,
        "person_spoke": person_spoke,
    }
    return asked(Ask(operation="session.report", payload=payload))


def turn_begun(session: str, epoch: str, *, turn: str, message: str, run_id: str) -> Steps[Document]:
    """Report that a model turn began for a message, and hear whose it is: `TurnReceipt`."""
    return _turn({"session": session, "epoch": epoch, "turn": turn, "message": message, "ended": None}, run_id)


def turn_ended(
    session: str,
    epoch: str,
    *,
    turn: str,
    message: str,
    run_id: str,
    stop_reason: Literal["completed", "aborted", "error"],
    entry: str | None = None,
    text: str | None = None,
) -> Steps[Document]:
    """Report how a model turn ended: `TurnReceipt`.

    Args:
        session: The session.
        epoch: The coordinator's.
        turn: The turn.
        message: The message that it answered.
        run_id: The run of that message.
        stop_reason: How it ended.
        entry: The entry of the visible answer.
        text: Its text.
    """
    ended: JsonObject = {"stop_reason": stop_reason, "entry": entry, "text": text}
    return _turn({"session": session, "epoch": epoch, "turn": turn, "message": message, "ended": ended}, run_id)


def session_view(session: str, epoch: str | None = None) -> Steps[Document]:
    """One session's view: `SessionViewed`; its coordinator, which names its epoch, may be handed a message by it."""
    return asked(Ask(operation="view.get", payload={"session": session, "epoch": epoch}, again=epoch is None))


def _turn(payload: JsonObject, run_id: str) -> Steps[Document]:
    return asked(Ask(operation="turn.report", run_id=run_id, payload=payload))
