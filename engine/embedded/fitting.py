"""Values that somebody hands in for a node, as JSON of its type."""

from typing import Any

from runwright.engine.authoring.conversion import NotConvertible, Shape, from_json, to_json
from runwright.engine.errors import InputInvalid
from runwright.eventstore.values import Json


def fitting(value: object, shape: Shape, what: str) -> Json:
    """A value as JSON: of a value of the declared type, or of JSON already.

    Args:
        value: The value.
        shape: The declared type.
        what: What it is said to be, ``answer`` or ``result``.

    Raises:
        InputInvalid: It does not fit.
    """
    try:
        document = to_json(value, shape if shape.owns(value) else Any)
        from_json(document, shape)
    except NotConvertible as problem:
        raise InputInvalid(problem.path, problem.problem, what) from None
    return document


def whole(value: object, shape: Shape, what: str) -> Json:
    """The same with everything that the type fills in, as it is stored.

    Raises:
        InputInvalid: It does not fit.
    """
    return to_json(shape.load(fitting(value, shape, what)), shape)
