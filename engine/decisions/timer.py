"""Timers that fall due: what they waited for is over, and the run becomes eligible unless it is paused."""

from runwright.engine.commands.host import FireTimer
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import RunFacts, Unsettled
from runwright.engine.decisions.node import OF_STEPS
from runwright.engine.decisions.person import by_policy
from runwright.engine.decisions.settling import goes_on
from runwright.engine.decisions.terminal import decide_time_out, ended
from runwright.engine.results import Adopted, Conflict
from runwright.eventstore.events.effect import EffectCancelled
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.message import MessageCancelled
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.request import RequestClosed
from runwright.eventstore.events.timer import TimerCleared, TimerFired


def decide_fire(facts: RunFacts, unsettled: Unsettled, command: FireTimer, policy: str | None = None) -> Decision[str]:
    """Decide what a timer that fell due does; its value is the queue state that it leaves.

    Args:
        facts: The run.
        unsettled: What it holds.
        command: The timer.
        policy: The choice that its open decision makes where nobody did in time.
    """
    if facts.ended:
        return ended(facts)
    if not any(each.kind == command.kind for each in unsettled.timers):
        return Conflict("not_found", {"what": "timer", "id": command.kind, "run": command.run_id})
    match command.kind:
        case "run":
            return _ended_by(facts, unsettled)
        case "wait":
            return _over(facts, unsettled, command, "completed")
        case "deadline" if policy is not None and unsettled.requests:
            (request,) = unsettled.requests
            return Decided(facts.queue.state, tuple(by_policy(facts, request, policy, unsettled)))
        case "deadline":
            return _over(facts, unsettled, command, "timed_out")
        case "delivery":
            # Only the session's next message waited for it.
            return Decided(facts.queue.state, (TimerFired(kind=command.kind),))
        case _:
            return _go_on(facts, command, [])


def _ended_by(facts: RunFacts, unsettled: Unsettled) -> Decision[str]:
    match decide_time_out(facts, unsettled):
        case Decided(_, events, erases):
            return Decided("failed", events, erases)
        case Adopted(_, revision):
            return Adopted("failed", revision)
        case other:
            return other


def _over(facts: RunFacts, unsettled: Unsettled, command: FireTimer, outcome: str) -> Decision[str]:
    """Finish the open attempt; the next worker routes from the recorded outcome."""
    visit, effect = unsettled.visit, unsettled.effect
    if visit is None or (effect is not None and effect.state in ("applying", "ambiguous")):
        # Ambiguity wins over a time limit: the attempt stays open until its effect is resolved.
        return Decided(facts.queue.state, (TimerFired(kind=command.kind),))
    completed = outcome == "completed"
    asked = {each.request for each in unsettled.requests}
    events: list[Event] = [
        MessageCancelled(message=each.message, cause=outcome) for each in unsettled.messages if each.source in asked
    ]
    events.extend(RequestClosed(request=each.request, cause=outcome) for each in unsettled.requests)
    events.extend(TimerCleared(kind=each.kind) for each in unsettled.timers if each.kind in OF_STEPS - {command.kind})
    if effect is not None and effect.state == "reserved":
        # Released, and never applied again: no later visit of the node may take it up.
        events.append(EffectCancelled(effect=effect.effect, cause=outcome))
    events.append(
        NodeFinished(
            path=visit.path,
            visit=visit.visits,
            attempt=visit.attempt,
            outcome=outcome,
            code=None if completed else "node_timed_out",
            output=Content.json(None) if completed else None,
        )
    )
    return _go_on(facts, command, events)


def _go_on(facts: RunFacts, command: FireTimer, events: list[Event]) -> Decision[str]:
    fired: list[Event] = [TimerFired(kind=command.kind), *events]
    fired += goes_on(facts, "deadline" if command.kind == "deadline" else "timer")
    return Decided(facts.queue.state, tuple(fired))
