"""Messages: what is to reach a session, which one is current, and what evidence makes of it (page 07, "Messages")."""

from collections.abc import Collection, Iterable
from typing import Final

from attrs import frozen

from runwright.engine.commands.session import QueueFollowUp
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import RunFacts, Step
from runwright.engine.decisions.terminal import ended
from runwright.engine.results import Conflict
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.message import MessageCancelled, MessageQueued, MessageSent
from runwright.eventstore.events.request import RequestOpened
from runwright.eventstore.events.timer import TimerSet
from runwright.eventstore.values import Json
from runwright.projections.control.messages import MessageRow
from runwright.projections.control.requests import RequestRow
from runwright.projections.control.runs import RunRow
from runwright.projections.control.sessions import SessionRow
from runwright.projections.control.turns import TurnRow
from runwright.projections.shown import shown_time

#: Deliveries that start a turn, per attempt (a request), and per session between two turns of a person.
MAX_STEP_WAKE_UPS: Final = 5
MAX_SESSION_WAKE_UPS: Final = 10

#: Deliveries of a message that tells of a run rather than asks for it.
MAX_TOLD: Final = 2
TOLD: Final = frozenset({"launch_failure", "terminal", "follow_up"})

#: How often one coordinator is handed a message: once, and once more after it was absent for `QUIET` seconds.
MAX_SENDS: Final = 2
QUIET: Final = 60.0

#: Bytes of a follow-up.
MAX_FOLLOW_UP: Final = 64 * 1_024

STEP_SCHEMA: Final = "runwright.step.v1"
FOLLOW_UP_SCHEMA: Final = "runwright.follow-up.v1"
DECISION_SCHEMA: Final = "runwright.decision.v1"
NOTIFICATION_SCHEMA: Final = "runwright.notification.v1"


@frozen
class Waiting:
    """A message that has not reached its session, with what decides whether it may be handed out.

    Attributes:
        message: The message.
        run: Its run.
        outcome: How the chain of that run ended, or ``None`` while it lives.
        request: The request that it asks for.
        delayed: Whether the run's next delivery has to wait (a turn of it ended in an error).
    """

    message: MessageRow
    run: RunRow
    outcome: str | None
    request: RequestRow | None
    delayed: bool

    @property
    def eligible(self) -> bool:
        """Whether it may be handed out as far as its run is concerned."""
        run, request = self.run, self.request
        match self.message.kind:
            case "step" | "decision":
                if run.finished_at is not None or request is None or request.state != "open":
                    return False
                return self.message.kind == "decision" or not (run.paused or run.pause_requested or self.delayed)
            case "follow_up":
                return self.outcome == "completed"
            case _:
                return True


@frozen
class Queue:
    """Everything of a session that may be current.

    Attributes:
        session: The session.
        open_turn: The message of its open turn.
        waiting: What has not reached it, in order.
        shown: The last message of the open request, where it was sent.
        cancelled: Cancelled messages that the coordinator may still hold.
        known: The messages whose presence this epoch knows.
    """

    session: SessionRow
    open_turn: MessageRow | None
    waiting: tuple[Waiting, ...]
    shown: MessageRow | None
    cancelled: tuple[MessageRow, ...]
    known: Collection[str]


@frozen
class Current:
    """The current message, whether it may be handed out, and whether that starts a turn."""

    message: MessageRow
    deliver: bool
    starts_turn: bool


def current_message(queue: Queue) -> Current | None:
    """Choose the one message that a coordinator has to do with: the first that holds (page 07)."""
    if queue.open_turn is not None:
        return Current(queue.open_turn, False, False)
    asked = [each.message for each in queue.waiting if each.message.deliveries or each.eligible]
    if queue.shown is not None:
        asked.append(queue.shown)
    for each in (*sorted(asked, key=lambda row: row.order), *queue.cancelled):
        if each.message not in queue.known:
            return Current(each, False, False)
    for waiting in queue.waiting:
        if waiting.eligible and has_sends_left(waiting.message, queue.session):
            return Current(waiting.message, True, _starts_turn(waiting, queue.session))
    return None


def has_sends_left(message: MessageRow, session: SessionRow) -> bool:
    """Whether the present coordinator may still be handed a message."""
    sends = message.sends if message.epoch == session.epoch else 0
    told = message.kind in TOLD
    return sends < MAX_SENDS and not (told and message.deliveries >= MAX_TOLD)


def _starts_turn(waiting: Waiting, session: SessionRow) -> bool:
    """Wake-ups are bounded: after so many, a message is handed out without one, until somebody speaks."""
    request = waiting.request
    tired = session.wake_ups >= MAX_SESSION_WAKE_UPS or (request is not None and request.wake_ups >= MAX_STEP_WAKE_UPS)
    return waiting.message.starts_turn and not tired


# --- evidence -------------------------------------------------------------------------------------------------


def present(message: MessageRow, step: Step | None, *, epoch: str, entry: str, now: int) -> list[Event]:
    """A message stands on the active branch: it is sent, also where it was cancelled meanwhile.

    The time of a session step begins with the first message that asks for it.
    """
    if message.state == "sent":
        return []
    events: list[Event] = [MessageSent(message=message.message, epoch=epoch, entry=entry)]
    if step is not None and step.request.state == "open" and not step.of.ended:
        limit = step.request.limit
        if limit is not None and not any(each.kind == "deadline" for each in step.timers):
            events.append(TimerSet(kind="deadline", due=now + limit))
    return events


def absent(message: MessageRow, step: Step | None) -> list[Event]:
    """A message is not on the active branch of an agent that rests: only a sent step is asked for again."""
    if message.state != "sent" or step is None or not step.asks_again(message.message):
        return []
    return [step_message(step, "resumed")]


# --- making messages ------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class StepContent:
    """What a step message says."""

    run_id: str
    workflow: str
    request: str
    kind: str
    path: str
    visit: int
    attempt: int
    contract: Json
    prompt: str | None


def step_message(step: Step, reason: str) -> MessageQueued:
    """The next message that asks a session for an open request."""
    request, run = step.request, step.of.run
    content = StepContent(
        run_id=run.run_id,
        workflow=run.workflow,
        request=request.request,
        kind=request.kind,
        path=request.path,
        visit=request.visit,
        attempt=request.attempt,
        contract=step.contract,
        prompt=step.prompt,
    )
    return step_content(content, ordinal=request.messages + 1, session=step.session, order=step.order, reason=reason)


def step_content(content: StepContent, *, ordinal: int, session: str, order: int, reason: str) -> MessageQueued:
    """A step message; its ID follows from the request and the message's number among those that ask for it."""
    message = f"step:{content.request}:{ordinal}"
    facts: dict[str, Json] = {
        "schema": STEP_SCHEMA,
        "messageId": message,
        "runId": content.run_id,
        "workflow": content.workflow,
        "requestId": content.request,
        "kind": content.kind,
        "node": content.path,
        "visit": content.visit,
        "attempt": content.attempt,
        "reason": reason,
        "contract": content.contract,
    }
    return MessageQueued(
        message=message,
        kind="step",
        session=session,
        order=order,
        source=content.request,
        starts_turn=True,
        reason=reason,
        content=Content.json(facts),
        text=None if content.prompt is None else Content.text(content.prompt),
    )


def decision_message(run: RunRow, opened: RequestOpened, order: int) -> MessageQueued:
    """The message that shows a session what only somebody's answer moves; it starts no turn.

    It says what can be answered and never what is decided on: that stays in the log.
    """
    message = f"decision:{opened.request}:1"
    facts: dict[str, Json] = {
        "schema": DECISION_SCHEMA,
        "messageId": message,
        "runId": run.run_id,
        "workflow": run.workflow,
        "requestId": opened.request,
        "kind": opened.kind,
        "node": opened.path,
        "visit": opened.visit,
        "attempt": opened.attempt,
        "protected": opened.protected,
        "digest": opened.digest,
        "deadline": None if opened.deadline is None else shown_time(opened.deadline),
        "contract": None if opened.contract is None else opened.contract.value,
        "presentation": None if opened.presentation is None else opened.presentation.value,
    }
    return MessageQueued(
        message=message,
        kind="decision",
        session=str(opened.session),
        order=order,
        source=opened.request,
        starts_turn=False,
        content=Content.json(facts),
        text=opened.prompt,
    )


def cancelled(messages: Iterable[MessageRow], cause: str, *kinds: str) -> list[Event]:
    """Cancel what was not sent, of some kinds."""
    return [
        MessageCancelled(message=each.message, cause=cause)
        for each in messages
        if each.state == "pending" and each.kind in kinds
    ]


def decide_follow_up(of: RunFacts, command: QueueFollowUp, order: int) -> Decision[str]:
    """Decide whether a live run keeps a text for its session, to be sent once it has completed."""
    run = of.run
    if run.session is None or command.session != run.session:
        return Conflict("not_found", {"what": "run", "id": run.run_id, "session": command.session})
    if of.ended:
        return ended(of)
    size = len(command.text.encode("utf-8", "surrogatepass"))
    if size > MAX_FOLLOW_UP:
        return Conflict("payload_too_large", {"what": "follow_up", "limit": MAX_FOLLOW_UP, "size": size})
    message = f"follow_up:{run.run_id}:{order}"
    content: dict[str, Json] = {
        "schema": FOLLOW_UP_SCHEMA,
        "messageId": message,
        "runId": run.run_id,
        "workflow": run.workflow,
    }
    queued = MessageQueued(
        message=message,
        kind="follow_up",
        session=run.session,
        order=order,
        source=run.run_id,
        starts_turn=True,
        content=Content.json(content),
        text=Content.text(command.text),
    )
    return Decided(run.run_id, (queued,))


def owns_turn(message: MessageRow, step: Step | None, turns: Iterable[TurnRow]) -> bool:
    """Whether a turn that begins now is one of this message's run: a message causes one turn, once it is sent."""
    if message.state != "sent" or not message.starts_turn or any(True for _ in turns):
        return False
    if message.kind != "step":
        return True
    return step is not None and step.live
