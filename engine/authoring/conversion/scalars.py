"""The shapes of single values: JSON's own, and those that are written as text or as a number."""

import json
import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from runwright.engine.authoring.conversion.shape import (
    NotConvertible,
    Refs,
    Shape,
    kind_of,
    wrong,
    wrong_json,
)
from runwright.eventstore.values import Json, JsonObject

_AWARE = "make it aware: `datetime.now(UTC)`"


class Null(Shape):
    """Nothing."""

    name = "None"
    kinds = frozenset({"null"})

    def owns(self, value: object) -> bool:
        return value is None

    def dump(self, value: Any) -> Json:
        if value is not None:
            raise wrong(self.name, value)
        return None

    def load(self, value: Json) -> Any:
        if value is not None:
            raise wrong_json("null", value)

    def schema(self, refs: Refs) -> JsonObject:
        return {"type": "null"}

    def finite(self) -> tuple[Json, ...]:
        return (None,)


class Boolean(Shape):
    """True or false."""

    name = "bool"
    kinds = frozenset({"boolean"})

    def owns(self, value: object) -> bool:
        return isinstance(value, bool)

    def dump(self, value: Any) -> Json:
        if value is not True and value is not False:
            raise wrong(self.name, value)
        return bool(value)

    def load(self, value: Json) -> Any:
        if not isinstance(value, bool):
            raise wrong_json("boolean", value)
        return value

    def schema(self, refs: Refs) -> JsonObject:
        return {"type": "boolean"}

    def finite(self) -> tuple[Json, ...]:
        return (True, False)


class Integer(Shape):
    """A whole number; never a bool."""

    name = "int"
    kinds = frozenset({"integer"})

    def owns(self, value: object) -> bool:
        return type(value) is int

    def dump(self, value: Any) -> Json:
        if type(value) is not int:
            raise wrong(self.name, value)
        return value

    def load(self, value: Json) -> Any:
        if type(value) is int:
            return value
        if isinstance(value, float) and value.is_integer():  # JSON Schema calls 3.0 an integer, too
            return int(value)
        raise wrong_json("whole number", value)

    def schema(self, refs: Refs) -> JsonObject:
        return {"type": "integer"}


class Number(Shape):
    """A finite number; a whole one becomes a float."""

    name = "float"
    kinds = frozenset({"number"})

    def owns(self, value: object) -> bool:
        return type(value) in (float, int)

    def dump(self, value: Any) -> Json:
        if type(value) not in (float, int):
            raise wrong(self.name, value)
        number = finite(_float(value))
        if number != value:
            raise NotConvertible("the whole number has more digits than a float keeps", "annotate int")
        return number

    def load(self, value: Json) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_json("number", value)
        return finite(_float(value))

    def schema(self, refs: Refs) -> JsonObject:
        return {"type": "number"}


class Text(Shape):
    """Text; never a subclass of str."""

    name = "str"
    kinds = frozenset({"string"})

    def owns(self, value: object) -> bool:
        return type(value) is str

    def dump(self, value: Any) -> Json:
        if type(value) is not str:
            raise wrong(self.name, value)
        return text(value)

    def load(self, value: Json) -> Any:
        if not isinstance(value, str):
            raise wrong_json("string", value)
        return text(value)

    def schema(self, refs: Refs) -> JsonObject:
        return {"type": "string"}


class Written(Shape):
    """A value that is written as text: a path, a time, a UUID, a decimal number."""

    kinds = frozenset({"string"})

    def __init__(
        self,
        of: type,
        write: Callable[[Any], str],
        read: Callable[[str], Any],
        format: str | None = None,
        what: str = "",
    ) -> None:
        self.name = of.__name__
        self._of = of
        self._write = write
        self._read = read
        self._format = format
        self._what = what or self.name

    def owns(self, value: object) -> bool:
        return isinstance(value, self._of)

    def dump(self, value: Any) -> Json:
        if not isinstance(value, self._of):
            raise wrong(self.name, value)
        return text(self._write(value))

    def load(self, value: Json) -> Any:
        if not isinstance(value, str):
            raise wrong_json("string", value)
        try:
            return self._read(text(value))
        except (ValueError, ArithmeticError) as problem:
            if isinstance(problem, NotConvertible):
                raise
            raise NotConvertible(f"the text is no {self._what}") from None

    def schema(self, refs: Refs) -> JsonObject:
        return {"type": "string", "format": self._format} if self._format else {"type": "string"}


class Duration(Shape):
    """A timedelta, written as its seconds."""

    name = "timedelta"
    kinds = frozenset({"number", "integer"})

    def owns(self, value: object) -> bool:
        return type(value) is timedelta

    def dump(self, value: Any) -> Json:
        if type(value) is not timedelta:
            raise wrong(self.name, value)
        seconds = value.total_seconds()
        try:
            exact = timedelta(seconds=seconds) == value
        except OverflowError:  # the longest ones, rounded up
            exact = False
        if not exact:
            raise NotConvertible("the time is too long to keep its microseconds", "round it to seconds")
        return int(seconds) if seconds.is_integer() else seconds

    def load(self, value: Json) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_json("number of seconds", value)
        try:
            return timedelta(seconds=finite(value))
        except OverflowError:
            raise NotConvertible("the number of seconds is too large") from None

    def schema(self, refs: Refs) -> JsonObject:
        return {"type": "number", "description": "seconds"}


class OneOf(Shape):
    """One of a few fixed values: a Literal, or the members of an Enum."""

    def __init__(self, name: str, members: Sequence[tuple[Any, Json]]) -> None:
        self.name = name
        # Keyed by type as well, because 1 and True are equal.
        self._json = {(type(member), member): value for member, value in members}
        self._members = {(kind_of(value), value): member for member, value in members}
        self._values = tuple(value for _, value in members)
        self.kinds = frozenset(kind_of(value) for value in self._values)

    def owns(self, value: object) -> bool:
        try:
            return (type(value), value) in self._json
        except TypeError:  # unhashable, so none of ours
            return False

    def dump(self, value: Any) -> Json:
        if not self.owns(value):
            raise wrong(self.name, value) if not self._same_type(value) else self._unknown()
        return self._json[type(value), value]

    def load(self, value: Json) -> Any:
        if kind_of(value) not in self.kinds or isinstance(value, list | dict):
            raise wrong_json(self.name, value)
        try:
            return self._members[kind_of(value), value]
        except KeyError:
            raise self._unknown() from None

    def _same_type(self, value: object) -> bool:
        return any(type(value) is known for known, _ in self._json)

    def _unknown(self) -> NotConvertible:
        return NotConvertible(f"the value is none of {self.known()}")

    def known(self) -> str:
        """The values as text, for messages."""
        return ", ".join(json.dumps(value, ensure_ascii=False) for value in self._values)

    def schema(self, refs: Refs) -> JsonObject:
        return {"enum": list(self._values)}

    def finite(self) -> tuple[Json, ...]:
        return self._values


def enumeration(of: type[Enum]) -> OneOf:
    """The shape of an Enum: its members by their values."""
    return OneOf(of.__name__, [(member, member.value) for member in of])


def aware(value: datetime) -> str:
    """Write an aware time; refuse a naive one."""
    if value.utcoffset() is None:
        raise NotConvertible("a datetime without a time zone", _AWARE)
    return value.isoformat()


def read_aware(value: str) -> datetime:
    """Read an aware time; refuse a naive one."""
    time = datetime.fromisoformat(value)
    if time.utcoffset() is None:
        raise NotConvertible("a time without an offset", "end it in `Z` or `+00:00`")
    return time


def finite(number: float) -> float:
    """A number that JSON can carry."""
    if isinstance(number, float) and not math.isfinite(number):
        raise NotConvertible(f"{number} is no JSON number", "use None, or leave it out")
    return number


def text(value: str) -> str:
    """A text that UTF-8 can carry."""
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise NotConvertible("the text has half of a character pair", 'use `errors="replace"`') from None
    return value


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise NotConvertible("the number is too large for a float") from None
