"""Sessions: one coordinator at a time, and the idle boundary at which a queued run becomes eligible (page 07)."""

import re
from typing import Final

from attrs import frozen

from runwright.engine.decisions.facts import RunFacts
from runwright.engine.results import Conflict
from runwright.eventstore.events.event import Event
from runwright.eventstore.events.run import RunEligible
from runwright.eventstore.events.session import SessionPersonSpoke
from runwright.projections.control.messages import MessageRow
from runwright.projections.control.reservations import ReservationRow
from runwright.projections.control.runs import RunRow
from runwright.projections.control.sessions import SessionRow
from runwright.projections.shown import shown_time

#: Session IDs are the agent's own (fine print, "IDs").
SESSION_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")

#: How many starts that runs' messages caused may stand in a row (page 05, "Run commands").
MAX_DEPTH: Final = 3


@frozen(kw_only=True)
class Origin:
    """How the session stands that a new run would hold; a run without a session has none of it.

    Attributes:
        holder: Who holds the session.
        presenting: The message of an earlier end that it is answering.
        answering: The run whose message caused the session's open turn.
        person: Whether a person starts the run, which begins a new row of causes.
    """

    holder: ReservationRow | None = None
    presenting: MessageRow | None = None
    answering: RunRow | None = None
    person: bool = True


def check_session(session: str) -> Conflict | None:
    """Refuse what is no session ID; it is never cut."""
    if SESSION_ID.fullmatch(session):
        return None
    return Conflict(
        "input_invalid", {"path": "session", "problem": "is no session ID, which has 1 to 128 of A-Z a-z 0-9 . _ : -"}
    )


def session_busy(holder: ReservationRow) -> Conflict:
    """Say who holds a session, and since when."""
    since = shown_time(holder.since)
    return Conflict(
        "session_busy",
        {"run": holder.run_id, "workflow": holder.workflow, "session": holder.session, "since": since},
    )


def check_epoch(row: SessionRow | None, session: str, epoch: str | None) -> Conflict | None:
    """Check a coordinator's authority: only the one that attached last speaks for its session, and says which it is."""
    if row is None or row.epoch is None or epoch is None:
        reason = "missing"
    elif row.epoch != epoch:
        reason = "owner_changed"
    elif not row.attached:
        reason = "missing"
    else:
        return None
    return Conflict("claim_lost", {"session": session, "reason": reason})


def boundary(of: RunFacts) -> list[Event]:
    """What an idle boundary of its session makes of a run: eligible, once, and for good."""
    if of.ended or of.queue.state != "queued" or of.queue.eligible:
        return []
    return [RunEligible(cause="boundary")]


def person_spoke(row: SessionRow) -> list[Event]:
    """A person's turn, recorded only where that changes a count."""
    return [SessionPersonSpoke(epoch=row.epoch or "")] if row.wake_ups else []


def origin_of(origin: Origin) -> tuple[str | None, int] | Conflict:
    """Tell which run caused a new one, and how many such causes stand in a row; or why the session takes none now.

    A restart is a start like any other here.
    """
    if origin.holder is not None:
        return session_busy(origin.holder)
    if (presenting := origin.presenting) is not None:
        return Conflict(
            "presentation_pending",
            {"run": presenting.run_id, "message": presenting.message, "session": presenting.session},
        )
    cause = origin.answering
    if cause is None or origin.person:
        return None, 0
    if cause.depth >= MAX_DEPTH:
        return Conflict("start_no_progress", {"run": cause.run_id, "depth": cause.depth})
    return cause.run_id, cause.depth + 1
