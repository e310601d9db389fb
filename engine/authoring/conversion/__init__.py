"""The one output rule: a value is stored as JSON by its declared type, and always rebuilt from that JSON."""

from functools import lru_cache
from typing import Any, TypeVar, overload

from typing_extensions import TypeForm

from runwright.engine.authoring.conversion.build import Builder
from runwright.engine.authoring.conversion.containers import PLAIN
from runwright.engine.authoring.conversion.settings import coerce_setting, read_duration, readings
from runwright.engine.authoring.conversion.shape import NotConvertible, Refs, Shape, Unstorable
from runwright.eventstore.values import Json, JsonObject

T = TypeVar("T")

__all__ = [
    "PLAIN",
    "NotConvertible",
    "Shape",
    "Unstorable",
    "coerce_setting",
    "from_json",
    "read_duration",
    "readings",
    "schema_of",
    "shape_of",
    "storable",
    "to_json",
]


def shape_of(declared: Any) -> Shape:
    """The shape of a declared type; a shape is its own.

    Raises:
        Unstorable: When it, or a part of it, cannot be stored.
    """
    if isinstance(declared, Shape):
        return declared
    try:
        return _cached(declared)
    except TypeError as problem:
        if isinstance(problem, Unstorable):
            raise
        return Builder().build(declared)  # an unhashable annotation


@lru_cache(maxsize=1024, typed=True)
def _cached(declared: Any) -> Shape:
    return Builder().build(declared)


def storable(declared: Any) -> Unstorable | None:
    """Why a type cannot be stored; ``None`` where it can."""
    try:
        shape_of(declared)
    except Unstorable as problem:
        return problem
    return None


def to_json(value: Any, declared: Any) -> Json:
    """Turn a value into JSON by its declared type.

    Args:
        value: What a function returned, or a caller gave.
        declared: The type that it must be of, or its shape; ``Any`` for plain JSON.

    Raises:
        NotConvertible: When it is not of that type, naming path and fix.
    """
    try:
        return shape_of(declared).dump(value)
    except RecursionError:
        raise NotConvertible("the value is nested too deep, or contains itself") from None


@overload
def from_json(value: Json, declared: TypeForm[T]) -> T: ...
@overload
def from_json(value: Json, declared: object) -> Any: ...
def from_json(value: Json, declared: Any) -> Any:
    """Rebuild a value from JSON by its declared type.

    Raises:
        NotConvertible: When the JSON is not of that type, naming the path.
    """
    try:
        return shape_of(declared).load(value)
    except RecursionError:
        raise NotConvertible("the value is nested too deep") from None


def schema_of(declared: Any) -> JsonObject:
    """The JSON Schema (2020-12) of a declared type, or of a shape."""
    refs = Refs()
    document = shape_of(declared).schema(refs)
    return {**document, "$defs": refs.definitions} if refs.definitions else document
