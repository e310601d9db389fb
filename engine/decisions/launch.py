"""Accepting a run durably: everything that a later launch needs to know, in one transaction."""

from typing import Final

from runwright.engine.commands.client import QueueRun
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.session import Origin, check_session, origin_of
from runwright.engine.results import Conflict
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.run import RunEligible, RunInput, RunQueued
from runwright.eventstore.events.timer import TimerSet
from runwright.projections.control.runs import RunRow

#: Bytes of a run's input, encoded (page 05, "Launch").
MAX_INPUT: Final = 1_024 * 1_024


def decide_queue(
    command: QueueRun,
    *,
    now: int,
    key: str,
    size: int,
    twin: RunRow | None,
    origin: Origin,
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
    began = origin_of(origin)
    if isinstance(began, Conflict):
        return began
    cause, depth = began
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
        cause=cause,
        depth=depth,
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
