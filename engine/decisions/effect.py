"""Effects: recorded before they are tried, settled after, and never repeated on a guess (page 06, law 7)."""

from typing import assert_never

from runwright.engine.commands.worker import Authority, BeginEffect, EffectGrant, ReserveEffect, SettleEffect
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import EffectFacts
from runwright.engine.decisions.fingerprint import request_fingerprint, without_values
from runwright.engine.decisions.node import known_code, open_attempt
from runwright.engine.identity import effect_id
from runwright.engine.results import Adopted, Conflict
from runwright.engine.safe import error_text
from runwright.eventstore.events.effect import (
    EffectAmbiguous,
    EffectApplied,
    EffectApplying,
    EffectRejected,
    EffectReleased,
    EffectReserved,
)
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.values import Json, decode, encode
from runwright.projections.control.effects import EffectRow
from runwright.projections.control.workers import WorkerRow


def decide_reserve(facts: EffectFacts, command: ReserveEffect) -> Decision[EffectGrant]:
    """Decide a reservation; an equal one is adopted with what became of it, another is a conflict."""
    of, saved = facts.of, facts.effect
    if (refusal := open_attempt(of, facts.current, command.path, command.visit)) is not None:
        return refusal
    spec = facts.definition.nodes.get(command.path)
    if spec is None or spec.contract is None or spec.effect_type is None:
        return broken("no_effect", node=command.path)
    if facts.tree is None:
        # Without the tree's key nothing can be compared, and the run's input is gone too.
        return Conflict("input_cleared", {"run": of.run.run_id})
    request: Json = command.request
    if spec.kind == "shell":
        request = without_values(facts.tree, request)
    fingerprint = request_fingerprint(facts.tree, request)
    if saved is not None:
        if saved.fingerprint == fingerprint:
            return Adopted(_grant(saved, facts.result), of.revision)
        return Conflict(
            "effect_request_changed",
            {"effect": saved.effect, "saved": saved.fingerprint, "given": fingerprint, "state": saved.state},
        )
    effect = effect_id(of.run.run_id, command.path, command.visit, spec.effect_type)
    reserved = EffectReserved(
        effect=effect,
        effect_type=spec.effect_type,
        path=command.path,
        visit=command.visit,
        fingerprint=fingerprint,
        contract=spec.contract,
        request=Content.json(request),
    )
    return Decided(EffectGrant(effect=effect, state="reserved", applications=0), (reserved,))


def decide_begin(facts: EffectFacts, command: BeginEffect, generation: int) -> Decision[int]:
    """Decide whether an effect may be applied now: its function runs only after the answer."""
    of, effect = facts.of, facts.effect
    if (refusal := open_attempt(of, facts.current, command.path, command.visit)) is not None:
        return refusal
    if effect is None:
        return broken("not_reserved", node=command.path)
    if effect.state == "applying" and effect.generation == generation:
        return Adopted(effect.applications, of.revision)
    if effect.state != "reserved":
        return Conflict("effect_ambiguous", {"effect": effect.effect, "state": effect.state})
    application = effect.applications + 1
    applying = EffectApplying(effect=effect.effect, application=application, generation=generation)
    return Decided(application, (applying,))


def decide_settle(facts: EffectFacts, command: SettleEffect) -> Decision[None]:
    """Decide what became of the application under way."""
    effect = facts.effect
    if effect is None or effect.applications != command.application:
        return broken("application_unknown", application=command.application)
    if not known_code(command.code):
        return broken("code_unfit", outcome=command.outcome)
    if effect.state != "applying":
        return _settled_already(facts, effect, command)
    return _settled(effect, command)


def decide_evidence(
    facts: EffectFacts, worker: WorkerRow | None, authority: Authority, command: SettleEffect
) -> Decision[None] | None:
    """Decide whether a fenced worker's word is evidence about the very application that it made.

    It touches the effect only, never the run.

    Returns:
        ``None`` when it is no evidence: then the refused claim is the answer.
    """
    effect = facts.effect
    if (
        effect is None
        or worker is None
        or (worker.run_id, worker.generation) != (authority.run_id, authority.generation)
        or (effect.generation, effect.applications) != (authority.generation, command.application)
        or command.outcome not in ("applied", "rejected")
        or not known_code(command.code)
    ):
        return None
    if effect.state == "ambiguous":
        return _settled(effect, command)
    adopted = _settled_already(facts, effect, command)
    return adopted if isinstance(adopted, Adopted) else None


def _settled(effect: EffectRow, command: SettleEffect) -> Decision[None]:
    event: Event
    match command.outcome:
        case "applied":
            event = EffectApplied(
                effect=effect.effect,
                external_reference=command.external_reference,
                result=Content.json(command.result),
            )
        case "rejected":
            error = None if command.error is None else Content.text(error_text(command.error))
            event = EffectRejected(effect=effect.effect, code=command.code or "node_failed", error=error)
        case "released":
            if not _may_release(effect, command.cause):
                return broken("release_unfit", contract=effect.contract)
            event = EffectReleased(effect=effect.effect, cause=command.cause)
        case "ambiguous":
            event = EffectAmbiguous(effect=effect.effect, cause=command.cause or "uncertain")
        case never:
            assert_never(never)
    return Decided(None, (event,))


def _may_release(effect: EffectRow, cause: str) -> bool:
    """Whether the contract lets an application be followed by another one."""
    match effect.contract:
        case "idempotent":
            return cause in ("try", "idempotent")
        case "observed":
            return cause in ("try", "absent")
        case _:
            return False


def _settled_already(facts: EffectFacts, effect: EffectRow, command: SettleEffect) -> Decision[None]:
    """Adopt an equal settlement, and tell of another one."""
    match command.outcome:
        case "applied":
            equal = effect.state == "applied" and facts.result == encode(command.result)
        case "rejected":
            equal = effect.state == "rejected" and effect.code == (command.code or "node_failed")
        case "released":
            equal = effect.state == "reserved" and effect.cause == command.cause
        case "ambiguous":
            equal = effect.state == "ambiguous"
        case never:
            assert_never(never)
    if equal:
        return Adopted(None, facts.of.revision)
    return Conflict("revision_changed", {"effect": effect.effect, "state": effect.state})


def _grant(effect: EffectRow, result: str | None) -> EffectGrant:
    return EffectGrant(
        effect=effect.effect,
        state=effect.state,
        applications=effect.applications,
        result=None if result is None else decode(result),
    )
