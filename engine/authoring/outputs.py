"""The output type of every node kind: the one place that says what a node's output is declared as."""

import inspect
import typing
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, get_args, get_origin

from runwright.engine.authoring.conversion import Shape, Unstorable, shape_of
from runwright.engine.authoring.conversion.classes import Fields
from runwright.engine.authoring.conversion.jsonschema import Described
from runwright.engine.authoring.conversion.scalars import OneOf
from runwright.engine.authoring.declaration import Declaration
from runwright.engine.authoring.questions import Decided
from runwright.engine.authoring.shell import ShellResult

_UNREADABLE = "Import or define the names that it uses at the top of the module, not under TYPE_CHECKING"


def output_shape(declaration: Declaration) -> Shape:
    """The shape of a node's output.

    Raises:
        Unstorable: When the declared type cannot be stored or read.
    """
    match declaration.kind:
        case "agent" if declaration.schema is not None:
            return _described(declaration.schema)
        case "agent" | "checkpoint":
            return shape_of(declaration.returns)
        case "choose":
            return _choices(declaration)
        case "assistant":
            return shape_of(str)
        case "compute" | "action":
            return shape_of(return_type(declaration.function))
        case "shell":
            return shape_of(ShellResult if declaration.parse is None else return_type(declaration.parse))
        case "notify" | "wait":
            return shape_of(None)
        case "decision":
            decided = shape_of(Decided)
            assert isinstance(decided, Fields)
            return decided.with_member("choice", _choices(declaration))


def _described(schema: Any) -> Shape:
    try:
        return Described(schema)
    except RecursionError:
        raise Unstorable("The schema is nested too deep, or contains itself", "Write `$ref` for what repeats") from None


def _choices(declaration: Declaration) -> Shape:
    return OneOf("choice", [(name, name) for name in declaration.choice_names])


def return_type(function: Callable[..., Any] | None) -> Any:
    """What a function is annotated to return; `Any` without an annotation.

    Raises:
        Unstorable: When the annotation cannot be read.
    """
    function = unwrapped(function)
    if isinstance(function, type):
        return function
    try:
        annotation = getattr(function, "__annotations__", {}).get("return", Any)
        if isinstance(annotation, str):
            # A decorator may live in another module than what it wraps, whose annotation this is.
            names = getattr(inspect.unwrap(function), "__globals__", {})
            annotation = typing.get_type_hints(_Only(annotation), globalns=names)["return"]
    except Exception as problem:  # noqa: BLE001 (evaluating an annotation may raise anything)
        raise Unstorable(
            f"The return annotation of {getattr(function, '__name__', 'the function')!r} cannot be read "
            f"({type(problem).__name__})",
            _UNREADABLE,
        ) from None
    if get_origin(annotation) in (Awaitable, Coroutine):
        return get_args(annotation)[-1]
    return annotation


def unwrapped(function: Any) -> Any:
    """The plain function behind a partial, a node, or an object that is called."""
    while True:
        if hasattr(function, "declaration"):
            function = function.declaration.function
        elif type(function).__name__ == "partial":
            function = function.func
        elif not hasattr(function, "__annotations__") and callable(function):
            return type(function).__call__
        else:
            return function


class _Only:
    """Carries one annotation, so that the others, which nobody needs, are not evaluated."""

    def __init__(self, annotation: str) -> None:
        self.__annotations__ = {"return": annotation}
