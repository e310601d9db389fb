"""What an exception of the user's code means: a known failure, or an end that nobody can be sure of."""

import asyncio
import os
import threading
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import frozen

from runwright.engine.authoring.conversion import NotConvertible, Shape, from_json, to_json
from runwright.engine.authoring.declaration import Declaration
from runwright.engine.authoring.observations import Uncertain
from runwright.engine.execution.calling import OutOfTime
from runwright.engine.safe import cut, mask, strike
from runwright.eventstore.errors import PayloadTooLarge, ValueRefused
from runwright.eventstore.values import MAX_VALUE, Json, encode

#: Where the frames between the engine's loop and the user's function stand: this package, asyncio, threads.
_MACHINERY: tuple[str, ...] = (
    f"{Path(__file__).parent.parent}{os.sep}",
    f"{Path(asyncio.__file__).parent}{os.sep}",
    threading.__file__,
)
BadOutcome: TypeAlias = Literal["failed", "timed_out"]

#: The most bytes of error text that are kept.
MAX_ERROR = 8 * 1024
_UNCERTAIN: tuple[type[BaseException], ...] = (
    Uncertain,
    TimeoutError,
    ConnectionError,
)  # a BrokenPipeError is a ConnectionError


@frozen(kw_only=True)
class Failure:
    """How a try ended badly.

    Attributes:
        outcome: What the attempt's outcome is, if the failure stands.
        code: The stable code.
        error: The private text, masked and cut.
        certain: Whether it is sure that nothing more came of it.
    """

    outcome: BadOutcome = "failed"
    code: str = "node_failed"
    error: str
    certain: bool = True


class NodeFailure(Exception):
    """Carries a failure to where the attempt ends."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.code)
        self.failure = failure


def classify(error: BaseException, declaration: Declaration | None = None, secrets: Iterable[str] = ()) -> Failure:
    """Say what an exception means.

    Args:
        error: What was raised.
        declaration: The node's, whose ``certain`` and ``uncertain`` name further exceptions.
        secrets: Values to strike out of the text.
    """
    if isinstance(error, OutOfTime):
        return Failure(outcome="timed_out", code="node_timed_out", error=str(error), certain=False)
    certain = declaration.certain if declaration is not None else ()
    uncertain = _UNCERTAIN + (declaration.uncertain if declaration is not None else ())
    return Failure(
        error=cut(mask(strike(describe(error), secrets)), MAX_ERROR),
        certain=all(isinstance(each, certain) or not isinstance(each, uncertain) for each in _leaves(error)),
    )


def stored(shape: Shape, value: object, what: str = "output", limit: int = MAX_VALUE) -> Json:
    """Turn a value into the JSON that is stored, by its declared type, and make sure that it can be rebuilt.

    Args:
        shape: The declared type.
        value: The value.
        what: What it is, for the error text.
        limit: The most bytes that it may have.

    Raises:
        NodeFailure: When it cannot: ``output_invalid`` or ``payload_too_large``; an uncertain end for an effect.
    """
    try:
        document = to_json(value, shape)
        encode(document, limit)
        from_json(document, shape)
    except PayloadTooLarge as error:
        raise NodeFailure(_unstorable("payload_too_large", what, error)) from None
    except (NotConvertible, ValueRefused) as error:
        raise NodeFailure(_unstorable("output_invalid", what, error)) from None
    except BaseException as error:  # noqa: BLE001 (a class of the user's own runs its code here, on the engine's loop)
        raise NodeFailure(_unstorable("output_invalid", what, error)) from None
    return document


def _unstorable(code: str, what: str, error: BaseException) -> Failure:
    text = f"the {what} cannot be stored: {error if isinstance(error, NotConvertible) else describe(error)}"
    return Failure(code=code, error=cut(mask(text), MAX_ERROR), certain=False)


def describe(error: BaseException) -> str:
    """An exception as text: type and message, and those that it came from; survives a broken ``__str__``."""
    lines: list[str] = []
    for depth, each in enumerate(_chain(error)):
        name = type(each).__qualname__.rpartition(".")[2]
        message = message_of(each)
        lines.append(("caused by " if depth else "") + (f"{name}: {message}" if message else name))
    return "\n".join(lines)


def trace(error: BaseException) -> str:
    """The traceback for the run's private output log, from where the user's own code begins."""
    try:
        told = traceback.TracebackException.from_exception(error)
        _leave_out_ours(told, set())
        return "".join(told.format())
    except BaseException:  # noqa: BLE001 (formatting runs the exception's own code)
        return describe(error)


def _leave_out_ours(told: traceback.TracebackException, seen: set[int]) -> None:
    """Drop the frames before the user's code: how it came to be called helps nobody who reads it."""
    if id(told) in seen:
        return
    seen.add(id(told))
    own = next((number for number, frame in enumerate(told.stack) if not _is_machinery(frame.filename)), None)
    if own is not None:
        del told.stack[:own]
    for each in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if each is not None:
            _leave_out_ours(each, seen)


def _is_machinery(file: str) -> bool:
    return file.startswith(_MACHINERY)


def message_of(error: BaseException) -> str:
    """An exception's own text as UTF-8 can carry it, whatever its ``__str__`` does: it travels, and is kept."""
    try:
        # Masking looks at it all, and a message may be a whole response body.
        return str(error)[: 8 * MAX_ERROR].encode("utf-8", "backslashreplace").decode()
    except BaseException as broken:  # noqa: BLE001 (the exception's own code)
        return f"(its text cannot be shown: __str__ raised {type(broken).__name__})"


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen and len(seen) < 10:
        seen.add(id(each))
        yield each
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        inner: Sequence[BaseException] = error.exceptions
        for each in inner:
            yield from _leaves(each)
    else:
        yield error
