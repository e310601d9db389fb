"""Parking: stopping at a durable boundary, why, and by what a run goes on (page 05, "Recovery and progress")."""

from typing import Final

from runwright.engine.commands.host import ParkIdleRun
from runwright.engine.commands.worker import ParkRun
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import RunFacts, Unsettled
from runwright.engine.decisions.node import known_code
from runwright.engine.decisions.terminal import ended
from runwright.engine.results import Adopted, Conflict
from runwright.engine.safe import safe_message
from runwright.eventstore.events.effect import EffectAmbiguous
from runwright.eventstore.events.event import Event
from runwright.eventstore.events.run import RunEligible, RunParked, RunPaused, RunRecovered, RunRequeued
from runwright.eventstore.events.timer import TimerCleared, TimerSet

#: Park reasons that go on by themselves, with the cause that their eligibility is written under.
BY_ITSELF: Final = {"worker_crashed": "progress", "host_stopped": "host", "orphaned": "orphaned"}

#: Park reasons that wait for an answer, a timer or a deadline.
BY_EVENT: Final = frozenset({"waiting"})

#: Park reasons that wait for an explicit resume (the last one also for its effect), or for a cancel.
BY_PERSON: Final = frozenset(
    {
        "paused",
        "provider_error",
        "worker_no_progress",
        "worker_unkillable",
        "source_changed",
        "environment_missing",
        "imported",
        "unsupported",
        "protocol_rejected",
        "effect_ambiguous",
    }
)

REASONS: Final = frozenset(BY_ITSELF) | BY_EVENT | BY_PERSON

#: Park reasons that only the holder can know.
OBSERVED: Final = frozenset({"worker_crashed", "orphaned", "worker_no_progress", "worker_unkillable", "imported"})


def decide_park(facts: RunFacts, command: ParkRun, by: str) -> Decision[None]:
    """Decide a worker's stop at a boundary, which gives its claim back."""
    if command.reason not in REASONS - OBSERVED:
        return broken("unknown_reason")
    if not known_code(command.code):
        return broken("code_unfit", reason=command.reason)
    if not facts.started and command.reason == "host_stopped":
        return Decided(None, (RunRequeued(reason=command.reason),))
    if not facts.chain_started:
        return broken("not_started")
    timer, events = command.timer, list[Event]()
    if timer is not None:
        if command.reason != "waiting":
            return broken("timer_unfit")
        events.append(TimerSet(kind=timer.kind, due=timer.due, absolute=timer.absolute))
    events = parked(facts, command.reason, by, code=command.code, detail=command.detail, first=events)
    return Decided(None, tuple(events))


def decide_park_idle(facts: RunFacts, unsettled: Unsettled, command: ParkIdleRun, by: str) -> Decision[str]:
    """Decide that a run which nobody drives stays where it is until somebody resumes it."""
    queue, imported = facts.queue, command.reason == "imported"
    if command.reason not in BY_PERSON:
        return broken("unknown_reason")
    if facts.ended:
        return ended(facts)
    if queue.reason == command.reason and not queue.eligible:
        return Adopted(queue.state, facts.revision)
    if not imported and (queue.state == "queued" or not facts.chain_started):
        # What was never claimed keeps its place in the queue, also where the chain before it has started.
        return Conflict("not_started", {"run": queue.run_id, "queue": queue.state})
    if queue.owner is not None and not imported:
        return Conflict("still_live", {"run": queue.run_id, "queue": queue.state})
    # A wait or a delay is not waited for any more: an explicit resume takes it up at its saved node. The time of a
    # question that stands open runs on, whoever is here to take the answer.
    runs_on = {"run", "deadline", "delivery"} if unsettled.requests else {"run"}
    settled: list[Event] = [TimerCleared(kind=each.kind) for each in unsettled.timers if each.kind not in runs_on]
    if imported and unsettled.effect is not None and unsettled.effect.state == "applying":
        # Whoever was applying it may still be at it, in the place this log came from.
        settled.append(EffectAmbiguous(effect=unsettled.effect.effect, cause=command.reason))
    return Decided("parked", tuple(parked(facts, command.reason, by, detail=command.detail, first=settled)))


def parked(
    facts: RunFacts,
    reason: str,
    by: str,
    *,
    code: str | None = None,
    detail: str | None = None,
    first: list[Event] | None = None,
) -> list[Event]:
    """Work out the events of a park: a pause that was asked for is granted, and what goes on by itself may."""
    events: list[Event] = []
    if facts.queue.state in ("starting", "queued"):
        # Only a recovery may take a run from here to `parked`; its event comes first.
        events.append(RunRecovered(source=facts.queue.state, target="running", reason=reason))
    events.extend(first or ())
    if facts.run.pause_requested:
        events.append(RunPaused(by=by))
    events.append(RunParked(reason=reason, code=code, detail=None if detail is None else safe_message(detail)))
    cause = BY_ITSELF.get(reason)
    if cause is not None and not (facts.run.pause_requested or facts.run.paused):
        events.append(RunEligible(cause=cause))
    return events
