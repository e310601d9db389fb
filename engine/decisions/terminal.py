"""How runs end: one append that closes everything a run holds (law 6) and says how it ended."""

from typing import Literal, TypeAlias, assert_never

from runwright.engine.commands.worker import FailRun
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import RunFacts, Unsettled
from runwright.engine.decisions.fingerprint import terminal_fingerprint
from runwright.engine.decisions.node import known_code
from runwright.engine.results import Adopted, Conflict
from runwright.engine.safe import error_text, safe_message
from runwright.eventstore.events.effect import EffectAmbiguous, EffectCancelled
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.message import MessageCancelled
from runwright.eventstore.events.node import MountExited, NodeFinished
from runwright.eventstore.events.request import RequestClosed
from runwright.eventstore.events.run import RunCancelled, RunCompleted, RunFailed, RunInputErased, RunTimedOut
from runwright.eventstore.events.timer import TimerCleared, TimerFired
from runwright.eventstore.events.turn import TurnLost
from runwright.eventstore.values import Json, encode
from runwright.projections.control.runs import RunRow

BadEnd: TypeAlias = Literal["failed", "timed_out", "cancelled"]


def ended(facts: RunFacts) -> Conflict:
    """Refuse what a run that has ended cannot do any more."""
    return has_ended(facts.run)


def has_ended(run: RunRow) -> Conflict:
    """Say how and when a run ended, and what carries it on: whoever asks may have come a moment after an answer."""
    evidence: dict[str, Json] = {"run": run.run_id, "outcome": run.status, "finished_at": run.finished_at}
    carried: dict[str, Json] = {} if run.continued_by is None else {"last": run.continued_by}
    return Conflict("already_terminal", {**evidence, **carried})


def decide_complete(facts: RunFacts, unsettled: Unsettled) -> Decision[None]:
    """Decide a run's completion with the output of the node that finished last."""
    if facts.queue.state != "running":
        return broken("not_ready", queue=facts.queue.state)
    if unsettled.visit is not None or unsettled.output is None:
        return broken("no_output", node=facts.run.node, visit=facts.run.visit)
    if unsettled.mounts:
        return broken("mount_open", mount=unsettled.mounts[0].path)
    completed = RunCompleted(
        output=unsettled.output,
        fingerprint=terminal_fingerprint(unsettled.tree, facts.run, "completed", unsettled.output_text),
        message_due=message_due(facts, "completed"),
    )
    return Decided(None, (*closing(unsettled, "cancelled", None, keeps="follow_up"), completed))


def decide_fail(facts: RunFacts, unsettled: Unsettled, command: FailRun) -> Decision[None]:
    """Decide a failure that a worker knows of; before the run ever started, its launch failed."""
    if not known_code(command.code):
        return broken("code_unfit", outcome=command.outcome)
    phase = command.phase if facts.chain_started else "launch"
    events, erases = end_badly(
        facts,
        unsettled,
        command.outcome,
        code=command.code,
        phase=phase,
        message=command.message,
        error=command.error if facts.chain_started else None,
    )
    return Decided(None, events, erases)


def decide_time_out(facts: RunFacts, unsettled: Unsettled) -> Decision[None]:
    """Decide the run's own time limit, which ends it in any live state."""
    if facts.ended:
        if (facts.run.status, facts.run.code) == ("timed_out", "run_timed_out"):
            return Adopted(None, facts.revision)
        return ended(facts)
    events, erases = end_badly(
        facts,
        unsettled,
        "timed_out",
        code="run_timed_out",
        phase="execute" if facts.chain_started else "launch",
        message=f"Workflow {facts.run.workflow} reached its time limit.",
        fired="run",
    )
    return Decided(None, events, erases)


def end_badly(
    facts: RunFacts,
    unsettled: Unsettled,
    outcome: BadEnd,
    *,
    code: str,
    phase: str,
    message: str,
    error: str | None = None,
    by: str = "",
    fired: str | None = None,
) -> tuple[tuple[Event, ...], tuple[int, ...]]:
    """Work out the events of an end without a result, and the positions whose values go with it.

    What the run holds is closed first and its end follows, so that every row is touched while the run lives.
    """
    text = None if error is None else error_text(error)
    fingerprint = terminal_fingerprint(unsettled.tree, facts.run, outcome, encode([code, text]))
    due = message_due(facts, outcome)
    events = closing(unsettled, outcome, code, fired)
    match outcome:
        case "cancelled":
            reason = Content.text(error_text(message)) if message else None
            events.append(RunCancelled(by=by, fingerprint=fingerprint, message_due=due, reason=reason))
        case "failed" | "timed_out":
            end = RunFailed if outcome == "failed" else RunTimedOut
            events.append(
                end(
                    code=code,
                    phase=phase,
                    message=safe_message(message),
                    fingerprint=fingerprint,
                    message_due=due,
                    error=None if text is None else Content.text(text),
                )
            )
        case _:
            assert_never(outcome)
    if facts.started or unsettled.input is None:
        return tuple(events), ()
    # A launch that never started leaves no input behind.
    return (*events, RunInputErased()), (unsettled.input,)


def closing(
    unsettled: Unsettled,
    outcome: BadEnd,
    code: str | None,
    fired: str | None = None,
    *,
    keeps: str | None = None,
) -> list[Event]:
    """Close everything that a run's end may not leave open.

    Args:
        unsettled: What it holds.
        outcome: How what is open ends with it.
        code: The code of that.
        fired: The timer that ended the run.
        keeps: The kind of messages that are sent all the same.
    """
    events: list[Event] = []
    effect, visit = unsettled.effect, unsettled.visit
    if effect is not None and effect.state == "reserved":
        events.append(EffectCancelled(effect=effect.effect, cause=outcome))
    elif effect is not None and effect.state == "applying":
        events.append(EffectAmbiguous(effect=effect.effect, cause=outcome))
    events.extend(TurnLost(turn=each.turn, cause=outcome) for each in unsettled.turns)
    events.extend(
        MessageCancelled(message=each.message, cause=outcome) for each in unsettled.messages if each.kind != keeps
    )
    events.extend(RequestClosed(request=each.request, cause=outcome) for each in unsettled.requests)
    if visit is not None:
        events.append(
            NodeFinished(path=visit.path, visit=visit.visits, attempt=visit.attempt, outcome=outcome, code=code)
        )
    events.extend(
        MountExited(path=each.path, invocation=each.invocation, exit=None, outcome=outcome, code=code)
        for each in unsettled.mounts
    )
    for timer in unsettled.timers:
        events.append(TimerFired(kind=timer.kind) if timer.kind == fired else TimerCleared(kind=timer.kind))
    return events


def message_due(facts: RunFacts, outcome: str) -> str:
    """Which message an end owes the run's session (page 07, "Messages")."""
    if facts.run.session is None:
        return "none"
    if facts.chain_started:
        return "terminal"
    return "none" if outcome == "cancelled" else "launch_failure"
