"""The kinds of fields that messages have: each with its limits, its strict reader, and its JSON Schema."""

import re
from typing import Any, Final, Protocol, cast

import attrs

from runwright.eventstore.errors import PayloadTooLarge, ValueRefused
from runwright.eventstore.values import MAX_VALUE, Json, JsonObject, encode, step

#: As much of a field's name as an error repeats.
_SHOWN: Final = 64
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Unfit(Exception):
    """A message does not fit; ``path`` says where, and nothing of what stands there is repeated."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = path

    def under(self, part: str) -> "Unfit":
        """The same problem, seen from one level further out."""
        self.path = part + self.path
        return self


class Kind(Protocol):
    """One type of field."""

    def load(self, value: Json) -> Any:
        """Read what arrived; raises `Unfit`."""
        ...

    def schema(self) -> JsonObject:
        """The JSON Schema."""
        ...


@attrs.frozen
class Name:
    """One line of text: an ID, a key, a name, a path."""

    limit: int = 128
    pattern: str | None = None

    def load(self, value: Json) -> str:
        text = _text(value, self.limit)
        if not text:
            raise Unfit("is empty")
        if _CONTROL.search(text):
            raise Unfit("holds a control character")
        if self.pattern is not None and re.fullmatch(self.pattern, text) is None:
            raise Unfit("has another form")
        return text

    def schema(self) -> JsonObject:
        found: JsonObject = {"type": "string", "minLength": 1, "maxLength": self.limit}
        return found if self.pattern is None else {**found, "pattern": f"^(?:{self.pattern})$"}


@attrs.frozen
class Prose:
    """Any text."""

    limit: int

    def load(self, value: Json) -> str:
        return _text(value, self.limit)

    def schema(self) -> JsonObject:
        return {"type": "string", "maxLength": self.limit}


@attrs.frozen
class Whole:
    """A whole number within bounds."""

    least: int = 0
    most: int = 2**63 - 1

    def load(self, value: Json) -> int:
        if type(value) is not int:
            raise Unfit("is no whole number")
        if not self.least <= value <= self.most:
            raise Unfit(f"is not between {self.least} and {self.most}")
        return value

    def schema(self) -> JsonObject:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@attrs.frozen
class Number:
    """A number from 0."""

    most: float

    def load(self, value: Json) -> float:
        if type(value) not in (int, float):
            raise Unfit("is no number")
        number = cast(float, value)
        if not 0 <= number <= self.most:
            raise Unfit(f"is not between 0 and {self.most:g}")
        return float(number)

    def schema(self) -> JsonObject:
        return {"type": "number", "minimum": 0, "maximum": self.most}


@attrs.frozen
class Truth:
    """True or false."""

    def load(self, value: Json) -> bool:
        if not isinstance(value, bool):
            raise Unfit("is neither true nor false")
        return value

    def schema(self) -> JsonObject:
        return {"type": "boolean"}


@attrs.frozen
class OneOf:
    """One of some words."""

    words: tuple[str, ...]

    def load(self, value: Json) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise Unfit(f"is none of {', '.join(self.words)}")
        return value

    def schema(self) -> JsonObject:
        return {"enum": list(self.words)}


@attrs.frozen
class AnyJson:
    """Any JSON value, of at most so many bytes when it is encoded."""

    limit: int = MAX_VALUE

    def load(self, value: Json) -> Json:
        try:
            encode(value, self.limit)
        except PayloadTooLarge:
            raise Unfit(f"has more than {self.limit:,} bytes") from None
        except ValueRefused as refused:
            raise Unfit(refused.problem, refused.path.removeprefix("$")) from None
        return value

    def schema(self) -> JsonObject:
        return {"description": f"any JSON value of at most {self.limit:,} bytes"}


@attrs.frozen
class AnyObject:
    """A JSON object whose fields follow from elsewhere."""

    limit: int = MAX_VALUE

    def load(self, value: Json) -> JsonObject:
        if not isinstance(value, dict):
            raise Unfit("is no object")
        AnyJson(self.limit).load(value)
        return value

    def schema(self) -> JsonObject:
        return {"type": "object"}


@attrs.frozen
class Many:
    """A list of one kind."""

    kind: Kind
    most: int

    def load(self, value: Json) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Unfit("is no list")
        if len(value) > self.most:
            raise Unfit(f"has more than {self.most} items")
        return tuple(under(f"[{index}]", self.kind, each) for index, each in enumerate(value))

    def schema(self) -> JsonObject:
        return {"type": "array", "items": self.kind.schema(), "maxItems": self.most}


@attrs.frozen
class Table:
    """An object whose keys are names, each with a value of one kind."""

    key: Name
    kind: Kind
    most: int

    def load(self, value: Json) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Unfit("is no object")
        if len(value) > self.most:
            raise Unfit(f"has more than {self.most} fields")
        return {under("", self.key, name): under(field_step(name), self.kind, each) for name, each in value.items()}

    def schema(self) -> JsonObject:
        return {
            "type": "object",
            "propertyNames": self.key.schema(),
            "additionalProperties": self.kind.schema(),
            "maxProperties": self.most,
        }


@attrs.frozen
class Maybe:
    """One kind, or null."""

    kind: Kind

    def load(self, value: Json) -> Any:
        return None if value is None else self.kind.load(value)

    def schema(self) -> JsonObject:
        return {"anyOf": [self.kind.schema(), {"type": "null"}]}


def under(part: str, kind: Kind, value: Json) -> Any:
    """Read a value that stands one level further in; raises `Unfit` with the path from here."""
    try:
        return kind.load(value)
    except Unfit as problem:
        raise problem.under(part) from None


def field_step(name: str) -> str:
    """One step of a path, for a field that somebody else may have named."""
    return step(_CONTROL.sub("?", name[:_SHOWN]))


def _text(value: Json, limit: int) -> str:
    if not isinstance(value, str):
        raise Unfit("is no text")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise Unfit("holds a lone surrogate") from None
    if size > limit:
        raise Unfit(f"has more than {limit:,} bytes")
    return value
