"""The transitions of a worker by the names that they have on its channel, and their answers as data."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, assert_never

from attrs import field, frozen

from runwright.engine.commands.worker import (
    AskPerson,
    AskSession,
    BeginEffect,
    CloseRequest,
    CompleteRun,
    EffectGrant,
    EnterMount,
    ExitMount,
    ExitWorker,
    FailRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    QueueNotification,
    Ready,
    RegisterProcess,
    ReserveEffect,
    SettleEffect,
    StartNode,
    SubmitCandidate,
    UnregisterProcess,
    UpdateNode,
)
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired, Result
from runwright.engine.wire.errors import RecordRefused
from runwright.engine.wire.records import read, write
from runwright.eventstore.values import Json, JsonObject

#: The name of each transition on the channel.
NAMES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "ready": Ready,
        "node.start": StartNode,
        "node.finish": FinishNode,
        "node.update": UpdateNode,
        "mount.enter": EnterMount,
        "mount.exit": ExitMount,
        "effect.reserve": ReserveEffect,
        "effect.begin": BeginEffect,
        "effect.settle": SettleEffect,
        "request.open": OpenRequest,
        "request.submit": SubmitCandidate,
        "request.close": CloseRequest,
        "message.queue": AskSession,
        "message.decide": AskPerson,
        "message.notify": QueueNotification,
        "process.register": RegisterProcess,
        "process.unregister": UnregisterProcess,
        "run.park": ParkRun,
        "run.finish": CompleteRun,
        "run.fail": FailRun,
        "worker.exit": ExitWorker,
    }
)


@frozen(kw_only=True)
class Answered:
    """One answer of the transitions as data.

    Attributes:
        kind: Which of the four it is.
        value: What an applied or adopted one answers; an object is an `EffectGrant`.
        revision: The version of the run's stream after it.
        code: The code of a conflict, or the reason that recovery is required for.
        evidence: The safe facts that show it.
    """

    kind: Literal["applied", "adopted", "conflict", "recovery_required"]
    value: Json = None
    revision: int = 0
    code: str = ""
    evidence: JsonObject = field(factory=dict[str, Json])


def as_data(results: Sequence[Result[object]]) -> tuple[Answered, ...]:
    """Results on their way to a worker."""
    return tuple(_as_data(each) for each in results)


def from_data(answers: Sequence[Answered]) -> list[Result[object]]:
    """Results that came to a worker.

    Raises:
        RecordRefused: A value is none that the transitions answer.
    """
    return [_from_data(each) for each in answers]


def _as_data(result: Result[object]) -> Answered:
    match result:
        case Applied(value, revision):
            return Answered(kind="applied", value=_value(value), revision=revision)
        case Adopted(value, revision):
            return Answered(kind="adopted", value=_value(value), revision=revision)
        case Conflict(code, evidence):
            return Answered(kind="conflict", code=code, evidence=dict(evidence))
        case RecoveryRequired(reason, evidence):
            return Answered(kind="recovery_required", code=reason, evidence=dict(evidence))
        case never:
            assert_never(never)


def _from_data(answer: Answered) -> Result[object]:
    match answer.kind:
        case "applied":
            return Applied(_read_value(answer.value), answer.revision)
        case "adopted":
            return Adopted(_read_value(answer.value), answer.revision)
        case "conflict":
            return Conflict(answer.code, answer.evidence)
        case "recovery_required":
            return RecoveryRequired(answer.code, answer.evidence)


def _value(value: object) -> Json:
    match value:
        case None | int() | str():
            return value
        case EffectGrant():
            return write(value)
        case _:
            raise TypeError(f"no transition of a worker answers a {type(value).__name__}")


def _read_value(value: Json) -> object:
    match value:
        case None | int() | str():
            return value
        case dict():
            return read(EffectGrant, value)
        case _:
            raise RecordRefused("$.value", "is nothing that a transition answers")
