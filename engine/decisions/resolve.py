"""What an operator says became of an ambiguous effect (page 06, "Contracts")."""

from typing import Final, Literal, TypeAlias, assert_never

from runwright.engine.commands.client import ResolveEffect
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import ResolveFacts
from runwright.engine.results import Adopted, Conflict
from runwright.eventstore.events.effect import (
    EffectApplied,
    EffectCancelled,
    EffectRejected,
    EffectReleased,
    EffectResolved,
)
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.run import RunEligible
from runwright.eventstore.values import encode

Resolution: TypeAlias = Literal["done", "not_done", "timed_out"]

_RESOLUTIONS: Final[dict[str, Resolution]] = {"done": "done", "not_done": "not_done", "timed_out": "timed_out"}


def decide_resolve(facts: ResolveFacts, command: ResolveEffect, by: str) -> Decision[str]:
    """Decide an operator's word: it moves the effect, and lets a live run go on."""
    of, effect = facts.of, facts.effect
    resolution = _RESOLUTIONS.get(command.resolution)
    if resolution is None:
        return broken("unknown_resolution")
    if effect.state != "ambiguous":
        if _equal(facts, command, resolution):
            return Adopted(effect.run_id, of.revision)
        return Conflict("revision_changed", {"effect": effect.effect, "run": effect.run_id, "state": effect.state})
    if of.queue.owner is not None:
        return Conflict("still_live", {"run": effect.run_id, "effect": effect.effect, "queue": of.queue.state})
    resolved = EffectResolved(
        effect=effect.effect,
        resolution=resolution,
        by=by,
        reason=Content.text(command.reason) if command.reason else None,
    )
    settled = _settled(facts, command, resolution)
    return Decided(effect.run_id, (resolved, *settled, *_go_on(facts, command, resolution)))


def _settled(facts: ResolveFacts, command: ResolveEffect, resolution: Resolution) -> tuple[Event, ...]:
    effect = facts.effect.effect
    match resolution:
        case "done":
            return (EffectApplied(effect=effect, result=Content.json(command.result)),)
        case "not_done":
            if facts.of.ended:
                return (EffectCancelled(effect=effect, cause="resolved"),)
            return (EffectReleased(effect=effect, cause="resolved"),)
        case "timed_out":
            return (EffectRejected(effect=effect, code="node_timed_out"),)
        case never:
            assert_never(never)


def _go_on(facts: ResolveFacts, command: ResolveEffect, resolution: Resolution) -> tuple[Event, ...]:
    """Finish the attempt where the effect's end is the node's, and let the run be taken up; an ended run stays."""
    of, visit = facts.of, facts.unsettled.visit
    if of.ended:
        return ()
    events: list[Event] = []
    if (
        resolution != "not_done"
        and visit is not None
        and (visit.path, visit.visits) == (facts.effect.path, facts.effect.visit)
    ):
        done = resolution == "done"
        events.append(
            NodeFinished(
                path=visit.path,
                visit=visit.visits,
                attempt=visit.attempt,
                outcome="completed" if done else "timed_out",
                code=None if done else "node_timed_out",
                output=Content.json(command.output) if done else None,
            )
        )
    if of.queue.reason == "effect_ambiguous" and not of.run.paused and not of.queue.eligible:
        # Another reason to be parked (a pause, changed sources) goes on by what it names.
        events.append(RunEligible(cause="resolved"))
    return tuple(events)


def _equal(facts: ResolveFacts, command: ResolveEffect, resolution: Resolution) -> bool:
    """Whether the effect already stands where this word would put it."""
    effect = facts.effect
    match resolution:
        case "done":
            return effect.state == "applied" and facts.result == encode(command.result)
        case "not_done":
            return effect.state in ("reserved", "cancelled") and effect.cause == "resolved"
        case "timed_out":
            return effect.state == "rejected" and effect.code == "node_timed_out"
        case never:
            assert_never(never)
