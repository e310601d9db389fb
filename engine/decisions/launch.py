"""Accepting a run durably: everything that a later launch needs to know, in one transaction."""

from typing import Final

from attrs import frozen

from runwright.engine.commands.client import QueueRun
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.session import check_session, session_busy
from runwright.engine.results import Conflict
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.run import RunEligible, RunInput, RunQueued
from runwright.eventstore.events.timer import TimerSet
from runwright.eventstore.values import Json
from runwright.projections.control.messages import MessageRow
from runwright.projections.control.reservations import ReservationRow
from runwright.projections.control.runs import RunRow

#: Bytes of a run's input, encoded (page 05, "Launch").
MAX_INPUT: Final = 1_024 * 1_024


@frozen(kw_only=True)
class Origin:
    """How the session of a start stands; a run without a session has none of it.

    Attributes:
        holder: Who holds the session.
        presenting: The message of an earlier end that it is answering.
        cause: The run whose message caused the turn that starts this one.
        depth: How many such causes stand in a row.
    """

    holder: ReservationRow | None = None
    presenting: MessageRow | None = None
    cause: str | None = None
    depth: int = 0


def decide_queue(
    command: QueueRun,
    *,
    now: int,
    key: str,
    size: int,
    twin: RunRow | None,
    origin: "Origin",
) -> Decision[str]:
    """Decide whether a run is accepted.

    Args:
        command: The run, checked by the caller.
        now: UTC microseconds.
        key: The new run tree's key, in hex.
        size: Bytes of the input, encoded.
        twin: A run of the same ID.
        origin: How the session that it asks for stands.
    """
    if size > MAX_INPUT:
        return Conflict("payload_too_large", {"what": "input", "limit": MAX_INPUT, "size": size})
    if twin is not None:
        return Conflict("key_reused", {"run": twin.run_id, "operation": "run.start"})
    if command.session is not None and (unfit := check_session(command.session)) is not None:
        return unfit
    if origin.holder is not None:
        return session_busy(origin.holder)
    if (presenting := origin.presenting) is not None:
        evidence: dict[str, Json] = {"run": presenting.run_id, "message": presenting.message}
        return Conflict("presentation_pending", {**evidence, "session": presenting.session})
    queued = RunQueued(
        workflow=command.workflow,
        reference=command.reference,
        sources=command.sources,
        definition=command.definition,
        session=command.session,
        project=command.project,
        cwd=command.cwd,
        interpreter=command.interpreter,
        agents=command.agents,
        pass_env=command.pass_env,
        cause=origin.cause,
        depth=origin.depth,
        root=command.run_id,
        max_steps=command.max_steps,
        timeout=command.timeout,
    )
    events: list[Event] = [queued, RunInput(input=Content.json(command.input), key=Content.text(key))]
    if command.timeout is not None:
        events.append(TimerSet(kind="run", due=now + command.timeout))
    if command.session is None:
        # A run in a session waits for that session's idle boundary.
        events.append(RunEligible(cause="headless"))
    return Decided(command.run_id, tuple(events))
