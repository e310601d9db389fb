"""From a declared type to its shape, or to the reason why it cannot be stored."""

import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin
from uuid import UUID

import attrs

from runwright.engine.authoring.conversion.classes import UNSET, Class, Fields, Member, Model, Typed
from runwright.engine.authoring.conversion.containers import PLAIN, Dictionary, List, Tuple, Union
from runwright.engine.authoring.conversion.scalars import (
    Boolean,
    Duration,
    Integer,
    Null,
    Number,
    OneOf,
    Text,
    Written,
    aware,
    enumeration,
    read_aware,
)
from runwright.engine.authoring.conversion.shape import NotConvertible, Shape, Unstorable
from runwright.eventstore.values import Json


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise NotConvertible(f"{value} is no decimal number", "use None, or leave it out")
    return str(value)


def _read_decimal(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite():
        raise ValueError(text)
    return value


_SCALARS: dict[Any, Shape] = {
    None: Null(),
    type(None): Null(),
    bool: Boolean(),
    int: Integer(),
    float: Number(),
    str: Text(),
    Any: PLAIN,
    object: PLAIN,
    datetime: Written(datetime, aware, read_aware, "date-time", "RFC 3339 time"),
    timedelta: Duration(),
    Path: Written(Path, str, Path),
    UUID: Written(UUID, str, UUID, "uuid"),
    Decimal: Written(Decimal, _decimal, _read_decimal, "decimal", "decimal number"),
    list: List(PLAIN),
    dict: Dictionary(PLAIN),
    tuple: Tuple(None, PLAIN),
}
# As they were written before the built-in classes could be used.
_SCALARS |= {getattr(typing, each.__name__.title()): _SCALARS[each] for each in (list, dict, tuple)}

_INSTEAD = {
    "set": "Write list[…]",
    "frozenset": "Write list[…]",
    "bytes": "Write str, or write a file and return its Path",
    "bytearray": "Write str, or write a file and return its Path",
    "date": "Write an aware datetime, or str",
    "time": "Write an aware datetime, or str",
    "complex": "Write tuple[float, float]",
    "Sequence": "Write list[…] or tuple[…, ...]",
    "Iterable": "Write list[…]",
    "Iterator": "Write list[…]",
    "Generator": "Write list[…]",
    "Mapping": "Write dict[str, …]",
    "Counter": "Write dict[str, int]",
    "defaultdict": "Write dict[str, …]",
    "OrderedDict": "Write dict[str, …]",
}
_STORED = "Use JSON's types, list, dict[str, …], tuple, Literal, Enum, an attrs class or a dataclass"


class Builder:
    """Builds the shapes of one type and of all that it contains."""

    def __init__(self) -> None:
        self._classes: dict[Any, Fields] = {}
        self._unions: list[Union] = []
        #: What names in quoted annotations mean: the innermost class's module, and the open classes.
        self._names: dict[str, Any] = {}

    def build(self, declared: Any) -> Shape:
        """Build a shape, whole and checked.

        Raises:
            Unstorable: When some part of it cannot be stored.
        """
        try:
            shape = self.shape(declared)
        except RecursionError:
            problem = "The type is nested too deep, or contains itself with no class between"
            raise Unstorable(problem, "Write a class that refers to itself, or Any") from None
        for union in self._unions:
            union.require_unambiguous()
        return shape

    def shape(self, declared: Any) -> Shape:
        """The shape of a type, its unions not checked yet."""
        declared = _unwrapped(self._evaluated(declared))
        if declared == Json:
            return PLAIN
        if _hashable(declared) and declared in _SCALARS:
            return _SCALARS[declared]
        origin, arguments = get_origin(declared), get_args(declared)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments)
        if origin is Literal:
            return _literal(arguments)
        if origin is list:
            return List(self.shape(arguments[0]))
        if origin is dict:
            return self._dictionary(*arguments)
        if origin is tuple:
            return self._tuple(arguments)
        return self._class(declared, origin or declared, arguments)

    def _union(self, options: tuple[Any, ...]) -> Shape:
        # A whole number is itself before it is a float.
        shapes = sorted((self.shape(option) for option in options), key=lambda shape: isinstance(shape, Number))
        union = Union(" | ".join(shape.name for shape in shapes), tuple(shapes))
        self._unions.append(union)
        return union

    def _dictionary(self, key: Any, item: Any) -> Shape:
        if _unwrapped(key) is not str:
            raise Unstorable(f"dict[{_name(key)}, …] has keys that are no text", "Write dict[str, …]")
        return Dictionary(self.shape(item))

    def _tuple(self, parts: tuple[Any, ...]) -> Shape:
        if any(getattr(part, "__unpacked__", False) or get_origin(part) is typing.Unpack for part in parts):
            raise Unstorable("A tuple with an unpacked tuple in it cannot be stored", "Write list[…], or a class")
        if len(parts) == 2 and parts[1] is Ellipsis:
            return Tuple(None, self.shape(parts[0]))
        return Tuple(tuple(self.shape(part) for part in parts))

    def _class(self, declared: Any, cls: Any, arguments: tuple[Any, ...]) -> Shape:
        if not isinstance(cls, type):
            raise Unstorable(f"{_name(declared)} cannot be stored", _INSTEAD.get(_name(declared), _STORED))
        if issubclass(cls, Enum):
            return _enum(cls)
        if declared in self._classes:
            return self._classes[declared]
        if _is_model(cls):
            return Model(cls)
        members: Callable[[Any, dict[str, Any]], list[Member]]
        if attrs.has(cls):
            shape, members = Class(cls), self._attrs_members
        elif dataclasses.is_dataclass(cls):
            shape, members = Class(cls), self._dataclass_members
        elif typing.is_typeddict(cls):
            shape, members = Typed(cls), self._typed_members  # type: ignore[assignment]  # both are Fields
        else:
            raise Unstorable(f"{cls.__name__} cannot be stored", _INSTEAD.get(cls.__name__, _STORED))
        self._classes[declared] = shape
        given = dict(zip(getattr(cls, "__parameters__", ()), arguments, strict=False))
        outer = self._names
        hints = {name: _given(hint, given) for name, hint in self._hints(cls).items()}
        shape.define(members(cls, hints))
        self._names = outer
        return shape

    def _hints(self, cls: Any) -> dict[str, Any]:
        """The annotations of a class and its parents, each read in its own module."""
        hints: dict[str, Any] = {}
        outer = self._names
        for base in reversed(cls.__mro__ if not typing.is_typeddict(cls) else (cls,)):
            self._names = {**outer, **vars(sys.modules.get(base.__module__, typing)), cls.__name__: cls}
            try:
                written = inspect.get_annotations(base)
            except NameError as problem:  # where annotations are evaluated only when they are asked for
                raise _unreadable(str(problem.name), problem) from None
            hints |= {name: self._evaluated(hint) for name, hint in written.items()}
        return hints

    def _evaluated(self, hint: Any) -> Any:
        """An annotation that was written as text, read in its own module."""
        text = hint.__forward_arg__ if isinstance(hint, typing.ForwardRef) else hint
        if not isinstance(text, str):
            return hint
        try:
            return eval(text, dict(self._names))  # noqa: S307 (as typing.get_type_hints does with the same text)
        except Exception as problem:  # noqa: BLE001 (an annotation is code, and may raise anything)
            raise _unreadable(text, problem) from None

    def _attrs_members(self, cls: Any, hints: dict[str, Any]) -> list[Member]:
        members: list[Member] = []
        for each in attrs.fields(cls):
            if not each.init:
                continue
            key = each.alias or each.name
            default = UNSET if each.default is attrs.NOTHING or _is_factory(each.default) else each.default
            shape = self._member(cls, each.name, hints.get(each.name, Any))
            members.append(Member(each.name, key, shape, each.default is attrs.NOTHING, default))
        return members

    def _dataclass_members(self, cls: Any, hints: dict[str, Any]) -> list[Member]:
        members: list[Member] = []
        for each in dataclasses.fields(cls):
            if not each.init:
                continue
            fixed = each.default is not dataclasses.MISSING
            required = not fixed and each.default_factory is dataclasses.MISSING
            shape = self._member(cls, each.name, hints[each.name])
            members.append(Member(each.name, each.name, shape, required, each.default if fixed else UNSET))
        return members

    def _typed_members(self, cls: Any, hints: dict[str, Any]) -> list[Member]:
        members: list[Member] = []
        for name, hint in hints.items():
            required = get_origin(hint) is not typing.NotRequired and name in cls.__required_keys__
            members.append(Member(name, name, self._member(cls, name, hint), required))
        return members

    def _member(self, cls: Any, name: str, hint: Any) -> Shape:
        try:
            return self.shape(hint)
        except Unstorable as refusal:
            raise Unstorable(f"{cls.__name__}.{name}: {refusal.problem}", refusal.fix) from None


def _unreadable(text: str, problem: Exception) -> Unstorable:
    return Unstorable(
        f"The annotation {text[:80]!r} cannot be read ({type(problem).__name__})",
        "Import or define its names at the top of the module, not under TYPE_CHECKING",
    )


def _unwrapped(declared: Any) -> Any:
    """Look through NewType, Annotated, NotRequired and the `type` statement."""
    while True:
        if get_origin(declared) in (typing.Annotated, typing.Required, typing.NotRequired):
            declared = get_args(declared)[0]
        elif isinstance(declared, typing.NewType):
            declared = declared.__supertype__
        elif type(declared).__name__ == "TypeAliasType":
            declared = declared.__value__
        else:
            return declared


def _literal(values: tuple[Any, ...]) -> Shape:
    return OneOf(
        f"Literal[{', '.join(repr(value) for value in values)}]",
        [(value, value.value if isinstance(value, Enum) else value) for value in values],
    )


def _enum(cls: type[Enum]) -> Shape:
    for member in cls:
        if type(member.value) not in (str, int, bool, float, type(None)):
            raise Unstorable(
                f"{cls.__name__}.{member.name} has a value that is no JSON scalar",
                "Give its members text or numbers as values",
            )
    return enumeration(cls)


def _given(hint: Any, given: dict[Any, Any]) -> Any:
    """A generic class's hint with the type arguments filled in."""
    if not given:
        return Any if isinstance(hint, TypeVar) else hint
    if isinstance(hint, TypeVar):
        return given.get(hint, Any)
    parameters = getattr(hint, "__parameters__", ())
    return hint[tuple(given.get(each, Any) for each in parameters)] if parameters else hint


def _is_factory(default: Any) -> bool:
    return isinstance(default, attrs.Factory)  # type: ignore[arg-type]  # it is a class, which its stub hides


def _is_model(cls: type) -> bool:
    return any(base.__module__ == "pydantic.main" and base.__name__ == "BaseModel" for base in cls.__mro__)


def _hashable(declared: Any) -> bool:
    try:
        hash(declared)
    except TypeError:
        return False
    return True


def _name(declared: Any) -> str:
    return getattr(declared, "__name__", None) or str(declared)
