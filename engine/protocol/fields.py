"""Messages as frozen classes: one strict reader, one writer, and the JSON Schema that says the same."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, TypeVar, cast

import attrs

from runwright.engine.protocol.kinds import Kind, Many, Maybe, Table, Unfit, field_step, under
from runwright.eventstore.values import Json, JsonObject

T = TypeVar("T")

_KIND: Final = "runwright.kind"


@attrs.frozen
class Part:
    """An object of one of the protocol's classes."""

    of: type

    def load(self, value: Json) -> Any:
        """Read what arrived; raises `Unfit`."""
        return load(self.of, value)

    def schema(self) -> JsonObject:
        """A reference to the class's own schema."""
        return {"$ref": f"#/$defs/{self.of.__name__}"}


def of(kind: Kind, default: Any = attrs.NOTHING) -> Any:
    """Declare a field of a message; with a default it may be left out."""
    return attrs.field(default=default, metadata={_KIND: kind})


@cache
def _kinds(cls: Any) -> dict[str, tuple[Kind, bool]]:
    return {each.name: (each.metadata[_KIND], each.default is attrs.NOTHING) for each in attrs.fields(cls)}


def load(cls: type[T], document: Json) -> T:
    """Read a message strictly: every field known, present where it has to be, and within its limits.

    Raises:
        Unfit: It does not fit, naming the path.
    """
    if not isinstance(document, dict):
        raise Unfit("is no object")
    known = _kinds(cast(Any, cls))
    for name in document:
        if name not in known:
            raise Unfit("is no field that there is").under(field_step(name))
    values: dict[str, Any] = {}
    for name, (kind, needed) in known.items():
        if name in document:
            values[name] = under(f".{name}", kind, document[name])
        elif needed:
            raise Unfit("is missing").under(f".{name}")
    return cls(**values)


def dump(value: Any) -> Json:
    """Write a message, or a part of one, as JSON; every field is there."""
    if attrs.has(type(value)):
        return document(value)
    if isinstance(value, tuple | list):
        return [dump(each) for each in value]
    if isinstance(value, Mapping):
        return {name: dump(each) for name, each in value.items()}
    return cast(Json, value)


def document(message: Any) -> JsonObject:
    """Write a message as a JSON object; every field is there."""
    return {name: dump(getattr(message, name)) for name in _kinds(cast(Any, type(message)))}


def schema(cls: type) -> JsonObject:
    """The JSON Schema of a message's class."""
    properties: JsonObject = {}
    required: list[Json] = []
    for each in attrs.fields(cls):
        kind: Kind = each.metadata[_KIND]
        if each.default is attrs.NOTHING:
            required.append(each.name)
            properties[each.name] = kind.schema()
        else:
            properties[each.name] = {**kind.schema(), "default": dump(each.default)}
    return {
        "type": "object",
        "description": " ".join((cls.__doc__ or "").partition("\n\n")[0].split()),
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def parts_of(cls: type) -> set[type]:
    """The classes that a message's class is made of, itself included."""
    found: set[type] = {cls}
    for kind, _ in _kinds(cls).values():
        while isinstance(kind, Maybe | Many | Table):
            kind = kind.kind
        if isinstance(kind, Part) and kind.of not in found:
            found |= parts_of(kind.of)
    return found
