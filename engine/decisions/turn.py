"""Model turns: whether a run owns one, and what its end makes of the run (page 07, "Turns")."""

import hashlib
from collections.abc import Collection
from typing import Final

from attrs import frozen

from runwright.engine.commands.session import Ownership, ReportTurn, SavedTurn, TurnEnd, TurnReceipt
from runwright.engine.decisions.control import pausing
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import RunFacts, Step
from runwright.engine.decisions.message import (
    MAX_SESSION_WAKE_UPS,
    MAX_STEP_WAKE_UPS,
    cancelled,
    owns_turn,
    step_message,
)
from runwright.engine.decisions.settling import taken
from runwright.engine.results import Adopted, Conflict
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.request import RequestAccepted, RequestClosed, RequestSubmitted
from runwright.eventstore.events.run import RunEligible, RunParked, RunPaused
from runwright.eventstore.events.timer import TimerCleared, TimerSet
from runwright.eventstore.events.turn import TurnEnded, TurnLost, TurnStarted
from runwright.projections.control.messages import MessageRow
from runwright.projections.control.sessions import SessionRow
from runwright.projections.control.turns import TurnRow

#: Unproductive ends that are answered by a reminder; the next one ends the attempt.
REMINDERS: Final = 2

#: Seconds that the next delivery waits after one error, and after two in a row; the third pauses the run.
DELAYS: Final = (5, 30)
ERRORS: Final = 3

_SECOND: Final = 1_000_000


@frozen
class TurnFacts:
    """What a report about a turn is decided on.

    Attributes:
        of: The run that the message is of; ``None`` where there is no such message.
        message: The message.
        saved: The turn of that ID.
        of_message: All turns of the message.
        of_session: The session's open turn.
        step: What the message asks for, where it is a step.
    """

    of: RunFacts | None
    message: MessageRow | None
    saved: TurnRow | None
    of_message: tuple[TurnRow, ...]
    of_session: TurnRow | None
    step: Step | None


def decide_turn(facts: TurnFacts, command: ReportTurn, by: str) -> Decision[TurnReceipt]:
    """Decide a report about a turn; equal repeats adopt, and what does not fit the saved turn changes nothing."""
    saved = facts.saved
    if saved is not None and (differs := _differs(facts, saved, command)) is not None:
        return Conflict("revision_changed", {"turn": saved.turn, "differs": differs, "state": saved.state})
    revision = 0 if facts.of is None else facts.of.revision
    if saved is None:
        return _begin(facts, command, revision)
    if command.ended is None or saved.state != "open":
        ownership: Ownership = "active" if saved.state == "open" else "settled"
        return Adopted(TurnReceipt(ownership=ownership, turn=saved_turn(saved)), revision)
    return _end(facts, saved, command, command.ended, by)


def _differs(facts: TurnFacts, saved: TurnRow, command: ReportTurn) -> str | None:
    """Name what a report has otherwise than the saved turn; a lost one knows of no end that could differ."""
    run = None if facts.message is None else facts.message.run_id
    named = {
        "message": (saved.message, command.message),
        "run": (saved.run_id or run, command.run),
        "session": (saved.session, command.session),
    }
    if command.ended is not None and saved.state == "ended":
        digest, length = _evidence(command.ended)
        named["stop_reason"] = (str(saved.stop_reason), command.ended.stop_reason)
        named["evidence"] = (
            str((saved.entry, saved.digest, saved.length)),
            str((command.ended.entry, digest, length)),
        )
    return next((name for name, (kept, told) in named.items() if kept != told), None)


def _begin(facts: TurnFacts, command: ReportTurn, revision: int) -> Decision[TurnReceipt]:
    message = facts.message
    foreign = message is None or (message.session, message.run_id) != (command.session, command.run)
    unowned = Adopted(TurnReceipt(ownership="absent", turn=None), revision)
    if message is None or foreign or command.ended is not None:
        return unowned
    if facts.of_session is not None:
        other = facts.of_session
        return Conflict("revision_changed", {"turn": command.turn, "open": other.turn, "message": other.message})
    if not owns_turn(message, facts.step, facts.of_message):
        return unowned
    started = TurnStarted(
        turn=command.turn,
        message=message.message,
        run=message.run_id if message.kind == "step" else None,
        session=command.session,
        epoch=command.epoch,
    )
    turn = SavedTurn(
        turn=started.turn,
        message=started.message,
        run=started.run,
        session=started.session,
        state="open",
        stop_reason=None,
    )
    return Decided(TurnReceipt(ownership="active", turn=turn, touched=(message.run_id,)), (started,))


def _end(facts: TurnFacts, saved: TurnRow, command: ReportTurn, end: TurnEnd, by: str) -> Decision[TurnReceipt]:
    digest, length = _evidence(end)
    step = facts.step
    events: list[Event] = [
        TurnEnded(
            turn=saved.turn,
            stop_reason=end.stop_reason,
            entry=end.entry,
            digest=digest,
            length=length,
            request=None if step is None else step.request.request,
            evidence=None if end.text is None else Content.text(end.text),
        )
    ]
    if step is not None:
        match end.stop_reason:
            case "completed":
                events += _visible(step, saved.turn, end) or unproductive(step)
            case "error":
                events += _failed(step, by)
            case "aborted":
                events += _aborted(step, by)
    turn = SavedTurn(
        turn=saved.turn,
        message=saved.message,
        run=saved.run_id,
        session=saved.session,
        state="ended",
        stop_reason=end.stop_reason,
    )
    return Decided(TurnReceipt(ownership="settled", turn=turn, touched=(command.run,)), tuple(events))


def _visible(step: Step, turn: str, end: TurnEnd) -> list[Event]:
    """What an assistant's request makes of the turn's visible answer: its text, up to the first ``maxLength`` of it.

    A longer answer is cut there and no word is asked for again: the whole text stands in the turn's evidence.
    """
    request = step.request
    if request.kind != "assistant" or not step.live or end.entry is None or not (end.text or "").strip():
        return []
    bound = step.contract.get("maxLength") if isinstance(step.contract, dict) else None
    answer = str(end.text)[: bound if isinstance(bound, int) else None]
    accepted: list[Event] = [
        RequestSubmitted(request=request.request, submission=turn, key=turn, candidate=Content.json(answer)),
        RequestAccepted(request=request.request, submission=turn, source="agent", session=request.session),
    ]
    unsent = () if step.pending is None else (step.pending,)
    return [*accepted, *taken(step.of, request, answer, messages=unsent, timers=step.timers)]


def lost(turn: TurnRow, cause: str) -> TurnLost:
    """Nobody will learn how a turn ended."""
    return TurnLost(turn=turn.turn, cause=cause)


def left_alone(
    message: MessageRow, step: Step, turns: Collection[TurnRow], session: SessionRow | None, epoch: str
) -> bool:
    """Whether a step shows on the branch of an agent that rests, and nothing will come of it any more.

    Its turn was lost; or it never had one, because whoever was handed it went before it began. One that was handed out
    without starting a turn waits for a person to take one.

    Args:
        message: The step's message, as it stood before the report.
        step: What it asks for.
        turns: Its turns.
        session: The session.
        epoch: The coordinator that reports.
    """
    if turns:
        return any(each.state == "lost" for each in turns)
    tired = session is None or session.wake_ups >= MAX_SESSION_WAKE_UPS or step.request.wake_ups >= MAX_STEP_WAKE_UPS
    return not tired and (message.state == "sent" or message.epoch not in (None, epoch))


def unproductive(step: Step) -> list[Event]:
    """A turn for an open request ended without a candidate: the session is reminded, twice; then the attempt fails."""
    if not step.live or step.pending is not None:
        return []
    if step.request.unproductive < REMINDERS:
        return [step_message(step, "reminder")]
    request, of = step.request, step.of
    events: list[Event] = [
        RequestClosed(request=request.request, cause="failed"),
        NodeFinished(
            path=request.path,
            visit=request.visit,
            attempt=request.attempt,
            outcome="failed",
            code="missing_submission",
            error=Content.text("Three turns ended without an answer to the request."),
        ),
        *(TimerCleared(kind=each.kind) for each in step.timers if each.kind in ("deadline", "delivery")),
    ]
    if of.queue.state == "parked" and not of.queue.eligible:
        events.append(RunEligible(cause="deadline"))
    return events


def _failed(step: Step, by: str) -> list[Event]:
    """A turn ended in an error: the next delivery waits, and the third in a row pauses the run."""
    if not step.live:
        return []
    row = (step.request.errors + 1) % ERRORS
    if row == 0:
        return _stopped(step, by)
    due = step.of.now + DELAYS[row - 1] * _SECOND
    events: list[Event] = [TimerSet(kind="delivery", due=due)]
    if step.pending is None:
        events.append(step_message(step, "resumed"))
    return events


def _stopped(step: Step, by: str) -> list[Event]:
    of = step.of
    events: list[Event] = []
    if step.pending is not None:
        events += cancelled((step.pending,), "provider_error", "step")
    events += (TimerCleared(kind=each.kind) for each in step.timers if each.kind == "delivery")
    if of.queue.state != "parked":
        return [*events, *pausing(of, by)]
    detail = f"Three turns in a row for {step.request.path} ended in an error."
    return [*events, RunParked(reason="provider_error", code="provider_error", detail=detail), RunPaused(by=by)]


def _aborted(step: Step, by: str) -> list[Event]:
    """A person stopped the turn: the run pauses, and what was still to be asked is not."""
    events = [] if step.pending is None else cancelled((step.pending,), "aborted", "step")
    return [*events, *pausing(step.of, by)]


def saved_turn(row: TurnRow) -> SavedTurn:
    """A turn as it is answered."""
    return SavedTurn(
        turn=row.turn,
        message=row.message,
        run=row.run_id,
        session=row.session,
        state=row.state,
        stop_reason=row.stop_reason,
    )


def _evidence(end: TurnEnd) -> tuple[str | None, int | None]:
    """Digest and length of the text that a turn ended with."""
    if end.text is None:
        return None, None
    raw = end.text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(raw).hexdigest(), len(raw)
