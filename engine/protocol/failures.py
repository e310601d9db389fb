"""Errors as data, and back: a client raises what the same command raises in process."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Final

from runwright.engine.errors import ConflictError, EngineError, NotFound, RecoveryRequiredError
from runwright.engine.protocol.envelopes import Failure
from runwright.engine.protocol.errors import HostBusy, HostFailed, HostUnavailable
from runwright.eventstore.errors import PayloadTooLarge, StoreError, ValueRefused
from runwright.eventstore.values import Json

#: Where the errors stand that a host can answer with.
_MODULES: Final = (
    "runwright.engine.errors",
    "runwright.engine.reading.errors",
    "runwright.engine.protocol.errors",
    "runwright.engine.host.errors",
    "runwright.eventstore.errors",
    "runwright.eventstore.transfer.errors",
    "runwright.projections.errors",
)
#: What every error of ours has besides its own facts.
_OWN: Final = frozenset({"message", "hint", "code"})
_MOST_FACTS: Final = 64


def is_ours(error: BaseException) -> bool:
    """Whether an error writes its own sentence, which may be shown to anybody who may ask."""
    return isinstance(getattr(error, "code", None), str) and type(error).__module__.startswith("runwright.")


def failure_of(error: BaseException) -> Failure:
    """An error as it travels; of a foreign one nothing is told."""
    if not is_ours(error):
        return failure_of(HostFailed())
    facts = {
        name: value
        for name, given in vars(error).items()
        if name not in _OWN and not name.startswith("_") and (value := _plain(given)) is not _NOTHING
    }
    return Failure(
        kind=type(error).__name__,
        code=error.code,  # type: ignore[attr-defined]  # `is_ours` looked
        message=str(getattr(error, "message", None) or error),
        hint=str(getattr(error, "hint", "") or ""),
        facts=dict(list(facts.items())[:_MOST_FACTS]),
    )


def outcome_of(error: BaseException) -> str:
    """The outcome, in one word, of a call that ended with an error."""
    match error:
        case ConflictError(code="claim_lost"):
            return "claim_lost"
        case ConflictError():
            return "conflict"
        case RecoveryRequiredError():
            return "recovery_required"
        case NotFound() | EngineError(code="not_found"):
            return "not_found"
        case HostBusy() | HostFailed() | HostUnavailable():
            return "unavailable"
        case ValueRefused() | PayloadTooLarge():
            return "rejected"
        case StoreError() if not _about_a_file_handed_in(error):
            return "unavailable"
        case _ if getattr(error, "code", None) == "run_unknown":
            return "not_found"
        case _:
            return "rejected" if is_ours(error) else "unavailable"


def error_of(failure: Failure) -> Exception:
    """The error that travelled, of the same class, with the same code, sentence, hint and facts."""
    cls = _classes().get(failure.kind, EngineError)
    error: Any = cls.__new__(cls)
    error.args = (f"{failure.message} {failure.hint}" if issubclass(cls, StoreError) else failure.message,)
    for name, value in failure.facts.items():
        if name.isidentifier() and not name.startswith("_") and not hasattr(cls, name):
            setattr(error, name, _revived(value))
    error.message = failure.message
    if getattr(error, "hint", None) != failure.hint:
        error.hint = failure.hint
    if cls.code != failure.code:
        error.code = failure.code
    found: Exception = error
    return found


def _about_a_file_handed_in(error: StoreError) -> bool:
    return type(error).__module__ == "runwright.eventstore.transfer.errors"


@cache
def _classes() -> dict[str, Any]:
    return {cls.__name__: cls for module in map(import_module, _MODULES) for cls in _errors_in(module)}


def _errors_in(module: Any) -> Iterator[type[Exception]]:
    for each in vars(module).values():
        if isinstance(each, type) and issubclass(each, Exception) and each.__module__ == module.__name__:
            yield each


_NOTHING: Final = object()


def _plain(value: object) -> Any:
    """A fact as JSON; what has no such form stays behind, for the sentence says it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case PurePath():
            return str(value)
        case Mapping():
            return {str(name): found for name, each in value.items() if (found := _plain(each)) is not _NOTHING}
        case list() | tuple() | set() | frozenset():
            return _listed(value)
        case _:
            return _NOTHING


def _listed(values: Iterable[object]) -> list[Any]:
    return [found for each in values if (found := _plain(each)) is not _NOTHING]


def _revived(value: Json) -> object:
    match value:
        case dict():
            return MappingProxyType(value)
        case list():
            return tuple(value)
        case _:
            return value
