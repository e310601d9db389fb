"""Commands, given to the engine under the client's own name and key."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias, get_args

from attrs import frozen

from runwright.engine.embedded.answering import Answered
from runwright.engine.embedded.code import InputField, Typed
from runwright.engine.embedded.launcher import Provisions
from runwright.engine.embedded.preflight import Surroundings
from runwright.engine.embedded.resolving import Resolution
from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.surface import Surface
from runwright.engine.protocol.answers import RequestAnswered, RunNamed, RunQueued
from runwright.engine.protocol.conversation import RequestDecide, RequestSubmit, RequestUpdate
from runwright.engine.protocol.fields import document
from runwright.engine.protocol.payloads import (
    EffectResolve,
    RequestAnswer,
    RunCancel,
    RunFollowUp,
    RunRestart,
    RunResume,
    RunStart,
)
from runwright.engine.reading.moment import moment_of
from runwright.engine.results import Adopted, Applied
from runwright.eventstore.values import JsonObject


@frozen(kw_only=True)
class Done:
    """A command that was accepted, or adopted, with its receipt committed.

    Attributes:
        adopted: Whether an equal one had been accepted before.
        run_id: The run.
        revision: Its revision after it.
        answer: What the operation answers.
    """

    adopted: bool
    run_id: str
    revision: int
    answer: JsonObject


async def start(surface: Surface, asked: Asked) -> Done:
    """Queue a run."""
    result = await _started(surface, asked)
    with moment_of(surface.holder.log) as moment:
        workflow = moment.run(result.value).workflow
    queued = RunQueued(action="start", workflow=workflow, run_id=result.value, queued=True)
    return _done(result, document(queued))


async def _started(surface: Surface, asked: Asked) -> Applied[str] | Adopted[str]:
    payload: RunStart = asked.payload
    surroundings = Surroundings(
        cwd=Path(payload.cwd),
        project=None if payload.project is None else Path(payload.project),
        interpreter=payload.interpreter,
        pass_env=tuple(sorted(payload.pass_env)),
    )
    return await surface.engine.queue(
        payload.workflow,
        payload.input,
        session=payload.session,
        surroundings=surroundings,
        caller=asked.caller,
        provisions=_handed(payload),
        typed=Typed(
            fields=tuple(InputField(key=each.key, text=each.text, is_json=each.is_json) for each in payload.fields),
            task=payload.task,
            agents=tuple(each.name for each in payload.agents if not each.spare),
        ),
    )


async def pause(surface: Surface, asked: Asked) -> Done:
    """Let no further node of a run start."""
    return _named(await surface.engine.pause(asked.run_id, expected=asked.call.expected_revision, caller=asked.caller))


async def resume(surface: Surface, asked: Asked) -> Done:
    """Let a paused or parked run go on."""
    payload: RunResume = asked.payload
    resumed = await surface.engine.resume(
        asked.run_id,
        accept_source=payload.accept_source,
        expected=asked.call.expected_revision,
        caller=asked.caller,
        provisions=_handed(payload),
    )
    return _named(resumed)


async def cancel(surface: Surface, asked: Asked) -> Done:
    """End a run now."""
    payload: RunCancel = asked.payload
    return _named(
        await surface.engine.cancel(
            asked.run_id, reason=payload.reason, expected=asked.call.expected_revision, caller=asked.caller
        )
    )


async def restart(surface: Surface, asked: Asked) -> Done:
    """Run an ended run afresh."""
    payload: RunRestart = asked.payload
    restarted = await surface.engine.queue_restart(
        asked.run_id,
        at=payload.at,
        expected=asked.call.expected_revision,
        caller=asked.caller,
        provisions=_handed(payload),
    )
    return _named(restarted)


async def follow_up(surface: Surface, asked: Asked) -> Done:
    """Have a text sent to a run's own session once the run has completed."""
    payload: RunFollowUp = asked.payload
    return _named(
        await surface.engine.follow_up(
            asked.run_id, payload.text, session=payload.session, epoch=payload.epoch, caller=asked.caller
        )
    )


async def answer(surface: Surface, asked: Asked) -> Done:
    """Answer a request."""
    payload: RequestAnswer = asked.payload
    return _answered(
        await surface.engine.answer(payload.request_id, payload.value, caller=asked.caller, provisions=_handed(payload))
    )


async def submit(surface: Surface, asked: Asked) -> Done:
    """Hand in a candidate for an agent's request; the verdict is the answer."""
    payload: RequestSubmit = asked.payload
    return _answered(
        await surface.engine.submit(
            payload.request_id,
            payload.value,
            session=payload.session,
            epoch=payload.epoch,
            caller=asked.caller,
            provisions=_handed(payload),
        )
    )


async def update(surface: Surface, asked: Asked) -> Done:
    """Report progress of an agent's request."""
    payload: RequestUpdate = asked.payload
    return _named(
        await surface.engine.update_request(
            payload.request_id,
            name=payload.name,
            completed=payload.completed,
            total=payload.total,
            unit=payload.unit,
            message=payload.message,
            session=payload.session,
            epoch=payload.epoch,
            caller=asked.caller,
        )
    )


async def decide(surface: Surface, asked: Asked) -> Done:
    """Make a person's decision."""
    payload: RequestDecide = asked.payload
    return _answered(
        await surface.engine.decide(
            payload.request_id,
            payload.choice,
            text=payload.text,
            by=payload.by,
            digest=payload.digest,
            caller=asked.caller,
            provisions=_handed(payload),
        )
    )


async def resolve(surface: Surface, asked: Asked) -> Done:
    """Say what became of an ambiguous effect."""
    payload: EffectResolve = asked.payload
    return _named(
        await surface.engine.resolve(
            payload.effect_id,
            _RESOLUTIONS[payload.outcome],
            result=payload.result,
            reason=payload.reason,
            caller=asked.caller,
        )
    )


_RESOLUTIONS: Final[Mapping[str, Resolution]] = {each: each for each in get_args(Resolution)}

Command: TypeAlias = Callable[[Surface, Asked], Awaitable[Done]]

COMMANDS: Final[Mapping[str, Command]] = {
    "run.start": start,
    "run.pause": pause,
    "run.resume": resume,
    "run.cancel": cancel,
    "run.restart": restart,
    "run.follow_up": follow_up,
    "request.submit": submit,
    "request.update": update,
    "request.answer": answer,
    "request.decide": decide,
    "effect.resolve": resolve,
}


def _named(result: Applied[str] | Adopted[str]) -> Done:
    return _done(result, document(RunNamed(run_id=result.value)))


def _answered(found: Answered) -> Done:
    answered = RequestAnswered(request_id=found.request_id, run_id=found.run_id)
    return Done(adopted=found.adopted, run_id=found.run_id, revision=found.revision, answer=document(answered))


def _done(result: Applied[str] | Adopted[str], found: JsonObject) -> Done:
    return Done(adopted=isinstance(result, Adopted), run_id=result.value, revision=result.revision, answer=found)


def _handed(payload: RunStart | RunResume | RunRestart | RequestAnswer | RequestSubmit | RequestDecide) -> Provisions:
    """What is handed over; an executor that was named for this very run stands before one that is there in case."""
    specs = sorted(payload.agents, key=lambda spec: not spec.spare)
    return Provisions(agents={each.name: each.spec for each in specs}, env=payload.pass_env)
