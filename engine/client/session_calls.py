"""What coordinators of sessions ask: attaching, evidence, turns, submissions, and looking at a session."""

from collections.abc import Mapping
from typing import Literal

from runwright.engine.client.asking import Ask, Document, Steps, asked, commanded, handed
from runwright.engine.results import Adopted, Applied
from runwright.eventstore.values import Json, JsonObject


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
    """One session's view: `SessionViewed`; its coordinator, which names its epoch, may be handed a message by it.

    A coordinator's is asked once: where the reply is lost, so may be a message, and it attaches again.
    """
    return asked(Ask(operation="view.get", payload={"session": session, "epoch": epoch}, again=epoch is None))


# --- what an agent has to say to a request ----------------------------------------------------------------------


def request_submit(
    request_id: str,
    value: Json,
    *,
    session: str | None = None,
    epoch: str | None = None,
    agents: Mapping[str, str] | None = None,
    pass_env: Mapping[str, str] | None = None,
    key: str | None = None,
) -> Steps[Applied[str] | Adopted[str]]:
    """Hand in a candidate for an agent's request; the value is the ID of the run that goes on.

    Args:
        request_id: The request.
        value: The candidate.
        session: The session that speaks; ``None`` for a person who plays the agent.
        epoch: Its coordinator's: a session speaks under the present one alone.
        agents: Executors that are handed back to the run which goes on, where its host has lost them.
        pass_env: Variables that are handed back to it.
        key: The idempotency key.

    Raises:
        AnswerRejected: It was checked and will not do.
    """
    payload: JsonObject = {"request_id": request_id, "value": value, "session": session, "epoch": epoch}
    payload |= handed(agents, pass_env)
    return commanded(Ask(operation="request.submit", payload=payload, keyed=True, key=key))


def request_update(
    request_id: str,
    *,
    name: str = "overall",
    completed: float | None = None,
    total: float | None = None,
    unit: str = "",
    message: str = "",
    session: str | None = None,
    epoch: str | None = None,
    key: str | None = None,
) -> Steps[Applied[str] | Adopted[str]]:
    """Report progress of the attempt that waits for an agent's answer; the value is the ID of its run.

    Args:
        request_id: The request.
        name: What it is progress of; the newest of each name is shown.
        completed: How much is done.
        total: How much there is.
        unit: What is counted.
        message: A line for people.
        session: As for `request_submit`.
        epoch: As for `request_submit`.
        key: The idempotency key.
    """
    payload: JsonObject = {
        "request_id": request_id,
        "name": name,
        "completed": completed,
        "total": total,
        "unit": unit,
        "message": message,
        "session": session,
        "epoch": epoch,
    }
    return commanded(Ask(operation="request.update", payload=payload, keyed=True, key=key))


def request_decide(
    request_id: str,
    choice: str,
    *,
    by: str,
    text: str | None = None,
    digest: str | None = None,
    agents: Mapping[str, str] | None = None,
    pass_env: Mapping[str, str] | None = None,
    key: str | None = None,
) -> Steps[Applied[str] | Adopted[str]]:
    """Make a person's decision; the value is the ID of the run that goes on.

    Args:
        request_id: The request.
        choice: The name of one of its choices.
        by: Who decided: whoever calls this vouches for that person.
        text: What was written beside it.
        digest: The digest of what the person saw.
        agents: As for `request_submit`.
        pass_env: As for `request_submit`.
        key: The idempotency key.
    """
    payload: JsonObject = {"request_id": request_id, "choice": choice, "text": text, "by": by, "digest": digest}
    payload |= handed(agents, pass_env)
    return commanded(Ask(operation="request.decide", payload=payload, keyed=True, key=key))


def _turn(payload: JsonObject, run_id: str) -> Steps[Document]:
    return asked(Ask(operation="turn.report", run_id=run_id, payload=payload))
