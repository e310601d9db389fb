"""Pause, resume and cancel: the transition matrix of page 05, one standing of the run a column."""

from typing import Literal, TypeAlias, assert_never

from runwright.engine.commands.client import CancelRun, PauseRun, ResumeRun
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import RunFacts, SourceFacts, Step, Unsettled
from runwright.engine.decisions.message import step_message
from runwright.engine.decisions.program import source_changed, standing_on
from runwright.engine.decisions.terminal import end_badly, ended
from runwright.engine.results import Adopted, Conflict, RecoveryRequired
from runwright.eventstore.events.event import Event
from runwright.eventstore.events.message import MessageCancelled
from runwright.eventstore.events.run import (
    RunEligible,
    RunParked,
    RunPaused,
    RunPauseRequested,
    RunResumed,
    RunSourceAccepted,
)

#: The columns of the matrix; `standing` says which one a run is in.
Standing: TypeAlias = Literal["never_started", "running", "waiting", "parked", "paused", "terminal"]


def standing(facts: RunFacts) -> Standing:
    """Tell which column of the matrix a run is in; the first that holds."""
    if facts.ended:
        return "terminal"
    if not facts.started and facts.queue.state != "parked":
        return "never_started"
    if facts.run.paused or facts.run.pause_requested:
        return "paused"
    if facts.queue.state != "parked":
        return "running"
    return "waiting" if facts.queue.reason == "waiting" and not facts.queue.eligible else "parked"


def decide_pause(facts: RunFacts, unsettled: Unsettled, command: PauseRun, by: str) -> Decision[str]:
    """Decide a pause: a boundary grants it to a run at work; one that waits is paused at once."""
    run_id = command.run_id
    match standing(facts):
        case "never_started":
            return Conflict("not_started", {"run": run_id, "queue": facts.queue.state})
        case "running" | "waiting" | "parked":
            steps = [each for each in unsettled.messages if each.kind == "step"]
            unasked = [MessageCancelled(message=each.message, cause="paused") for each in steps]
            return Decided(run_id, (*pausing(facts, by), *unasked))
        case "paused":
            return Adopted(run_id, facts.revision)
        case "terminal":
            return ended(facts)
        case never:
            assert_never(never)


def pausing(facts: RunFacts, by: str) -> list[Event]:
    """What pauses a run where it is; nothing where it is paused, or cannot be."""
    match standing(facts):
        case "running":
            return [RunPauseRequested(by=by)]
        case "waiting" | "parked":
            return [RunPaused(by=by)]
        case _:
            return []


def decide_resume(
    facts: RunFacts,
    unsettled: Unsettled,
    command: ResumeRun,
    by: str,
    accepted: SourceFacts | None,
    step: Step | None = None,
) -> Decision[str]:
    """Decide an explicit resume.

    Args:
        facts: The run.
        unsettled: What it holds.
        command: What was asked.
        by: Who asked.
        accepted: The graphs to compare when changed sources were accepted.
        step: The request that is put to its session, which is asked anew.
    """
    run_id = command.run_id
    match standing(facts):
        case "never_started":
            return _not_parked(facts)
        case "running":
            return _accepted_at_work(facts, command) or Adopted(run_id, facts.revision)
        case "waiting":
            return _accepted_while_waiting(facts, unsettled, command, by, accepted) or _not_parked(facts)
        case "parked":
            if facts.queue.eligible:
                return _carried_on(facts, unsettled, command, by, accepted)
            return _release(facts, unsettled, command, by, accepted, None)
        case "paused":
            if facts.queue.state != "parked":
                # It is still at work: the request is taken back, and nothing has to start.
                return _accepted_at_work(facts, command) or Decided(run_id, (RunResumed(by=by),))
            return _release(facts, unsettled, command, by, accepted, step)
        case "terminal":
            return ended(facts)
        case never:
            assert_never(never)


def decide_cancel(facts: RunFacts, unsettled: Unsettled, command: CancelRun, by: str) -> Decision[str]:
    """Decide a cancellation: one transaction, whatever the run is doing."""
    match standing(facts):
        case "never_started" | "running" | "waiting" | "parked" | "paused":
            events, erases = end_badly(
                facts, unsettled, "cancelled", code="cancelled", phase="", message=command.reason, by=by
            )
            return Decided(command.run_id, events, erases)
        case "terminal":
            if facts.run.status == "cancelled":
                return Adopted(command.run_id, facts.revision)
            return ended(facts)
        case never:
            assert_never(never)


def _not_parked(facts: RunFacts) -> Conflict:
    reason = facts.queue.reason if facts.queue.state == "parked" else None
    state = "waiting" if reason == "waiting" else facts.queue.state
    return Conflict("not_parked", {"run": facts.run.run_id, "state": state, "reason": reason})


def _carried_on(
    facts: RunFacts, unsettled: Unsettled, command: ResumeRun, by: str, accepted: SourceFacts | None
) -> Decision[str]:
    """Adopt that a run goes on by itself; with other sources it would only park again, so they are settled first."""
    before = () if _unchecked(command) else _sources(facts, unsettled, command, by, accepted)
    if isinstance(before, RecoveryRequired):
        return before
    return Decided(command.run_id, before) if before else Adopted(command.run_id, facts.revision)


def _accepted_at_work(facts: RunFacts, command: ResumeRun) -> Conflict | None:
    """Refuse to put other sources under a worker that has loaded those it was launched with."""
    run, now = facts.run, standing_on(facts.run, command.definition, command.sources)
    if command.accept is None or now == (run.definition, run.sources):
        return None
    return Conflict("still_live", {"run": run.run_id, "queue": facts.queue.state, "accept": True})


def _accepted_while_waiting(
    facts: RunFacts, unsettled: Unsettled, command: ResumeRun, by: str, accepted: SourceFacts | None
) -> Decision[str] | None:
    """Accept other sources and wait on: an answer is checked against them, so it could never be given otherwise."""
    if accepted is None:
        return None
    before = _sources(facts, unsettled, command, by, accepted)
    if isinstance(before, RecoveryRequired):
        return before
    return Decided(command.run_id, before) if before else None


def _release(
    facts: RunFacts,
    unsettled: Unsettled,
    command: ResumeRun,
    by: str,
    accepted: SourceFacts | None,
    step: Step | None,
) -> Decision[str]:
    """Let a parked run go on, as far as the reason it is parked for allows."""
    if facts.run.paused and facts.queue.reason == "source_changed" and _unchecked(command):
        return Decided(command.run_id, (RunResumed(by=by),))  # the pause ends, and the reason below it stays
    before = _sources(facts, unsettled, command, by, accepted)
    if isinstance(before, RecoveryRequired):
        return before
    if unsettled.effect is not None and unsettled.effect.state == "ambiguous":
        if facts.run.paused:
            return Decided(command.run_id, (*before, RunResumed(by=by)))
        return RecoveryRequired("effect_ambiguous", {"run": command.run_id, "effect": unsettled.effect.effect})
    resumed: tuple[Event, ...] = (*before, RunResumed(by=by))
    if step is not None and facts.queue.reason in ("waiting", "provider_error"):
        return Decided(command.run_id, (*resumed, *_asked_again(facts, step)))
    waits = facts.queue.reason == "waiting" and _waits(unsettled)
    return Decided(command.run_id, resumed if waits else (*resumed, RunEligible(cause="resume")))


def _asked_again(facts: RunFacts, step: Step) -> list[Event]:
    """Put a request to its session once more: the run waits for the answer, and nothing has to start."""
    again: list[Event] = []
    if facts.queue.reason == "provider_error":
        again.append(RunParked(reason="waiting"))
    if step.pending is None:
        again.append(step_message(step, "resumed"))
    return again


def _waits(unsettled: Unsettled) -> bool:
    """Whether what a waiting run waits for is still to come: it may have fallen due during the pause."""
    return bool(unsettled.requests) or any(each.kind != "run" for each in unsettled.timers)


def _sources(
    facts: RunFacts, unsettled: Unsettled, command: ResumeRun, by: str, accepted: SourceFacts | None
) -> tuple[Event, ...] | RecoveryRequired:
    """Check the sources before anything is written (page 04, "Where code runs")."""
    run = facts.run
    now = standing_on(run, command.definition, command.sources)
    refused = source_changed(run, now)
    if now == (run.definition, run.sources):
        return refused if _unchecked(command) and facts.queue.reason == "source_changed" else ()
    if command.accept is None or accepted is None:
        return refused
    if (problem := _unfit(facts, unsettled, accepted)) is not None:
        return RecoveryRequired("source_changed", {**refused.evidence, "node": run.node, "problem": problem})
    definition, sources = now
    return (
        RunSourceAccepted(
            old_sources=run.sources,
            new_sources=sources,
            old_definition=run.definition,
            new_definition=definition,
            by=by,
        ),
    )


def _unchecked(command: ResumeRun) -> bool:
    """Whether nobody looked at the sources."""
    return command.definition is None and command.sources is None


def _unfit(facts: RunFacts, unsettled: Unsettled, accepted: SourceFacts) -> str | None:
    """Say why a changed graph cannot carry the run on: its current node is gone or is another kind of thing."""
    if any(each.path not in accepted.new.mounts for each in unsettled.mounts):
        return "vanished"
    path = facts.run.node
    if path is None or (old := accepted.old.nodes.get(path)) is None:
        return None
    new = accepted.new.nodes.get(path)
    if new is None:
        return "vanished"
    if new.kind != old.kind:
        return "kind_changed"
    if unsettled.effect is not None and (new.effect_type, new.contract) != (old.effect_type, old.contract):
        return "effect_changed"
    return None
