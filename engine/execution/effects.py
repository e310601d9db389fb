"""The protocol of managed effects: reserved and begun before it is tried, settled after, judged by its contract."""

from typing import Literal, Protocol, cast

from attrs import evolve

from runwright.engine.authoring.observations import Absent, Present, Unclear
from runwright.engine.commands.worker import BeginEffect, EffectGrant, ParkRun, ReserveEffect, SettleEffect
from runwright.engine.execution.calling import outlived, returned
from runwright.engine.execution.failures import Failure, NodeFailure
from runwright.engine.execution.port import SavedEffect
from runwright.engine.execution.visit import Ended, Parked, Visit
from runwright.engine.execution.walk import Refused, Walk
from runwright.eventstore.values import Json

_NO_TIME = Failure(outcome="timed_out", code="node_timed_out", error="its time was up", certain=False)


class Effect(Protocol):
    """What one kind of effect does at each step of the protocol; each raises `NodeFailure` when it cannot."""

    async def request(self) -> Json:
        """Work out what is asked of the world, as it is stored."""
        ...

    async def restate(self, saved: Json) -> Json:
        """The saved request, with what is never saved worked out again."""
        ...

    async def apply(self, request: Json) -> Json:
        """Do it, and answer the result as it is stored."""
        ...

    async def observe(self, request: Json) -> object:
        """Look whether it happened: `Present`, `Absent` or `Unclear`."""
        ...

    def present(self, result: object) -> Json:
        """The result that an observation brought, as it is stored."""
        ...

    async def output(self, result: Json) -> Json:
        """The node's output that follows from a stored result."""
        ...


async def perform(walk: Walk, visit: Visit, effect: Effect) -> Ended | Parked:
    """Bring one attempt of an effect to its end, from wherever it stands."""
    if walk.program.stand_in is not None:
        effect = walk.program.stand_in(walk, visit, effect)
    saved = visit.effect
    if saved is not None and visit.resumed and (end := await _take_up(walk, visit, effect, saved)) is not None:
        return end
    if _late(walk, visit):
        return Ended.badly(_NO_TIME)
    try:
        request = await walk.aside(effect.request() if saved is None else effect.restate(saved.request))
    except NodeFailure as error:
        return Ended.badly(error.failure)
    begun = await _begin(walk, visit, request)
    if isinstance(begun, Failure):
        return Ended.badly(begun)
    if begun.state == "applied":
        return await _completed(walk, effect, begun.result)
    try:
        result = await effect.apply(request)
    except NodeFailure as error:
        return await _judge(walk, visit, effect, error.failure)
    walk.owe([_settle(visit, "applied", result=result)])
    return await _completed(walk, effect, result)


async def _begin(walk: Walk, visit: Visit, request: Json) -> SavedEffect | Failure:
    try:
        *_, grant, application = await walk.commit(
            *visit.opening(),
            ReserveEffect(path=visit.path, visit=visit.number, request=request),
            BeginEffect(path=visit.path, visit=visit.number),
        )
    except Refused as refused:
        if refused.code == "effect_request_changed":
            text = "this visit asked for something else before; an effect's request must not change"
            return Failure(code=refused.code, error=text)
        grant = refused.values[-1] if refused.values else None
        if isinstance(refused.transition, BeginEffect) and isinstance(grant, EffectGrant) and grant.state == "applied":
            return _saved(grant, request)
        raise
    assert isinstance(grant, EffectGrant)
    assert isinstance(application, int)
    walk.effect = visit.effect = evolve(_saved(grant, request), state="applying", applications=application)
    return visit.effect


def _saved(grant: EffectGrant, request: Json) -> SavedEffect:
    return SavedEffect(
        effect=grant.effect,
        state=grant.state,
        applications=grant.applications,
        request=request,
        result=grant.result,
    )


async def _take_up(walk: Walk, visit: Visit, effect: Effect, saved: SavedEffect) -> Ended | Parked | None:
    """Judge what an earlier worker left; ``None``: it may be applied (again) in this attempt."""
    match saved.state, visit.spec.contract:
        case "applied", _:
            return await _completed(walk, effect, saved.result)
        case "ambiguous", _:
            return _ambiguous(visit)
        case "rejected", _:  # an operator said that its time was up
            return Ended.badly(_NO_TIME)
        case "applying", "manual":
            return _ambiguous(visit, "worker_ended")
        case "applying", "observed":
            return await _observed(walk, visit, effect, None)
        case "applying", _:
            return _free(walk, visit, "idempotent")
        case _:
            return None


def _free(walk: Walk, visit: Visit, cause: str) -> Ended | None:
    """The worker that applied it is gone, and it may be applied again: in the same attempt while there is time."""
    if _late(walk, visit):
        return _failed(visit, _NO_TIME)
    walk.owe([_settle(visit, "released", cause=cause)])
    return None


async def _judge(walk: Walk, visit: Visit, effect: Effect, failure: Failure) -> Ended | Parked:
    """Say what a bad end, seen by a living worker, means under the effect's contract."""
    if visit.spec.contract == "observed":
        if outlived(walk.state.run_id):
            walk.log.line(f"{visit.path} WARNING", "its time is up; it is observed when the function has returned")
            await returned(walk.state.run_id)
        end = await _observed(walk, visit, effect, failure)
        assert end is not None
        return end
    if visit.spec.contract == "manual" and not failure.certain:
        walk.log.line(f"{visit.path} WARNING", f"nobody can tell whether it happened: {failure.error}")
        return _ambiguous(visit, _cause(failure))
    return _failed(visit, failure)


async def _observed(walk: Walk, visit: Visit, effect: Effect, failure: Failure | None) -> Ended | Parked | None:
    """Look before anything is believed; without a failure, what is judged is the end of an earlier worker."""
    if failure is None:
        await walk.commit(*visit.opening())  # says that the worker is ready before the user's code runs
    assert visit.effect is not None
    try:
        request = visit.effect.request
        seen = await effect.observe(await effect.restate(request) if failure is None else request)
        if isinstance(seen, Present):
            result = effect.present(cast(Present[object], seen).result)
            walk.owe([_settle(visit, "applied", result=result)])
            return await _completed(walk, effect, result)
    except NodeFailure as error:
        seen = Unclear(error.failure.error)
    if isinstance(seen, Absent):
        return _free(walk, visit, "absent") if failure is None else _failed(visit, failure)
    reason = seen.reason if isinstance(seen, Unclear) else f"observe returned {type(seen).__name__}"
    walk.log.line(f"{visit.path} WARNING", f"the observation is unclear: {reason}")
    return _ambiguous(visit, "unclear")


async def _completed(walk: Walk, effect: Effect, result: Json) -> Ended:
    """An applied effect: its result is the output, unless what follows from it cannot be worked out."""
    try:
        return Ended(outcome="completed", output=await walk.aside(effect.output(result)))
    except NodeFailure as error:
        return Ended.badly(error.failure, retriable=False)  # it happened, and trying again would change nothing


def _failed(visit: Visit, failure: Failure) -> Ended:
    if visit.tries_again(failure.outcome, failure.code):
        return Ended.badly(failure, _settle(visit, "released", cause="try"))
    return Ended.badly(failure, _settle(visit, "rejected", failure=failure))


def _ambiguous(visit: Visit, cause: str | None = None) -> Parked:
    """Park until an operator says what became of it; ``cause`` where that is not recorded yet."""
    settles = () if cause is None else (_settle(visit, "ambiguous", cause=cause),)
    effect = visit.effect.effect if visit.effect is not None else "EFFECT"
    detail = (
        f"Nobody can tell whether the effect of {visit.path!r} happened. Look, then say so: "
        f"`runwright resolve {effect[-12:]} done --reason TEXT`, or `not-done`."
    )
    return Parked(park=ParkRun(reason="effect_ambiguous", code="effect_ambiguous", detail=detail), before=settles)


def _cause(failure: Failure) -> str:
    if failure.outcome == "timed_out":
        return "timed_out"
    return "unstorable" if failure.code in ("output_invalid", "payload_too_large") else "uncertain"


def _late(walk: Walk, visit: Visit) -> bool:
    left = walk.left(visit.deadline)
    return left is not None and left <= 0


def _settle(
    visit: Visit,
    outcome: Literal["applied", "rejected", "released", "ambiguous"],
    *,
    cause: str = "",
    result: Json = None,
    failure: Failure | None = None,
) -> SettleEffect:
    assert visit.effect is not None
    return SettleEffect(
        path=visit.path,
        visit=visit.number,
        application=visit.effect.applications,
        outcome=outcome,
        cause=cause,
        result=result,
        code=None if failure is None else failure.code,
        error=None if failure is None else failure.error,
    )
