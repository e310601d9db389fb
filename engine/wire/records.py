"""Classes as JSON objects and back: strict in every field, by functions that are put together once per class."""

import re
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Generic, Literal, TypeVar, Union, cast

import attrs

from runwright.engine.wire.errors import RecordRefused
from runwright.eventstore.values import Json, JsonObject

T = TypeVar("T")

#: The field that says which of several classes an object is.
TAG: Final = "type"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")

_Read = Callable[[Any], Any]
_Write = Callable[[Any], Any]


_Tags = Mapping[str, Any] | None
_TAGS: Final = "runwright.tags"


def tags(classes: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a field that holds a union, or a list of one, whose classes have tags of their own."""
    return {_TAGS: classes}


class _UnfitError(Exception):
    """A value does not fit; on its way out it learns where that was."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = path

    def at(self, step: str) -> "_UnfitError":
        return _UnfitError(self.problem, step + self.path)


def write(record: object) -> JsonObject:
    """An instance of an attrs class as a JSON object of all its fields."""
    return cast(JsonObject, _shape(type(record)).write(record))


def read(cls: type[T], data: Json) -> T:
    """The instance that a JSON object describes.

    Args:
        cls: An attrs class.
        data: What came.

    Raises:
        RecordRefused: A field is unknown, missing, or of another type; it is named.
    """
    try:
        return cast(T, _shape(cls).read(data))
    except _UnfitError as unfit:
        raise RecordRefused(f"${unfit.path}", unfit.problem) from None


class Tagged(Generic[T]):
    """Classes told apart by their tag, in the field ``type``.

    Args:
        classes: The class of each tag.
    """

    def __init__(self, classes: Mapping[str, type[T]]) -> None:
        self.classes: Mapping[str, type[T]] = types.MappingProxyType(dict(classes))
        self.tags: Mapping[type[T], str] = types.MappingProxyType({cls: tag for tag, cls in classes.items()})

    def write(self, record: T) -> JsonObject:
        """An instance as a JSON object with its tag."""
        return {TAG: self.tags[type(record)], **write(record)}

    def read(self, data: Json) -> T:
        """The instance that a JSON object with a tag describes.

        Raises:
            RecordRefused: The tag or a field is unknown, or a field is missing or of another type.
        """
        if not isinstance(data, dict):
            raise RecordRefused("$", "is no object")
        tag = data.get(TAG)
        cls = self.classes.get(tag) if isinstance(tag, str) else None
        if cls is None:
            raise RecordRefused(f"$.{TAG}", "is no type that is known here")
        return read(cls, {name: value for name, value in data.items() if name != TAG})


# --- one class --------------------------------------------------------------------------------------------


@attrs.frozen
class _Shape:
    write: _Write
    read: _Read


_shapes: dict[Any, _Shape] = {}


def _shape(cls: Any) -> _Shape:
    found = _shapes.get(cls)
    if found is None:
        found = _shapes[cls] = _shaped(cls)
    return found


def _shaped(cls: Any) -> _Shape:
    fields = [each for each in attrs.fields(cls) if each.init]
    readers = {each.name: _reader(_hint(cls, each), each.metadata.get(_TAGS)) for each in fields}
    writers = [(each.name, _writer(_hint(cls, each), each.metadata.get(_TAGS))) for each in fields]
    required = [each.name for each in fields if each.default is attrs.NOTHING]

    def read_it(data: Any) -> Any:
        if type(data) is not dict:
            raise _UnfitError("is no object")
        given: dict[str, Any] = {}
        for name, value in data.items():
            reader = readers.get(name)
            if reader is None:
                raise _UnfitError(f"has the unknown field {_shown(name)}")
            try:
                given[name] = reader(value)
            except _UnfitError as unfit:
                raise unfit.at(f".{name}") from None
        for name in required:
            if name not in given:
                raise _UnfitError("is missing", f".{name}")
        return cls(**given)

    def write_it(record: Any) -> Any:
        return {name: writer(getattr(record, name)) for name, writer in writers}

    return _Shape(write=write_it, read=read_it)


def _hint(cls: Any, of: "attrs.Attribute[Any]") -> Any:
    # As it was written: resolved, the alias `Json` would unfold, in modules too that do not know its name.
    return typing.get_type_hints(cls)[of.name] if isinstance(of.type, str) else of.type


# --- one field --------------------------------------------------------------------------------------------


def _shown(name: str) -> str:
    """A field's name, where it is one; anything else is content."""
    return name if _NAME.fullmatch(name) else "…"


def _itself(value: Any) -> Any:
    return value


_PLAIN: Final[Mapping[Any, str]] = types.MappingProxyType(
    {str: "is no text", int: "is no whole number", bool: "is no truth value", dict: "is no object"}
)


def _reader(hint: Any, tags: _Tags = None) -> _Read:
    kind, arguments = typing.get_origin(hint), typing.get_args(hint)
    if _is_json(hint):
        return _itself
    if hint in _PLAIN:
        return _exactly(hint)
    if hint is float:
        return _number
    if hint is Path:
        return _path
    if kind is Literal:
        return _one_of(arguments)
    if kind is tuple:
        return _items(_reader(arguments[0], tags))
    if kind is dict and _is_json(arguments[1]):
        return _exactly(dict)
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return _values(_reader(arguments[1], tags))
    if kind in (Union, types.UnionType):
        return _union_reader(arguments, tags)
    assert attrs.has(hint), f"{hint} has no form on the wire"
    return lambda data: _shape(hint).read(data)


def _writer(hint: Any, tags: _Tags = None) -> _Write:
    kind, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Path:
        return str
    if kind is tuple:
        of_item = _writer(arguments[0], tags)
        return lambda items: [of_item(each) for each in items]
    if isinstance(kind, type) and issubclass(kind, Mapping) and not _is_json(arguments[1]):
        of_value = _writer(arguments[1], tags)
        return lambda items: {key: of_value(value) for key, value in items.items()}
    if kind in (Union, types.UnionType) and not _is_json(hint):
        return _union_writer(arguments, tags)
    if attrs.has(hint):
        return lambda record: _shape(hint).write(record)
    return _itself


def _is_json(hint: Any) -> bool:
    """Whether a field takes any JSON value."""
    return {bool, int, float, str} <= set(typing.get_args(hint))


def _exactly(kind: type) -> _Read:
    problem = _PLAIN[kind]

    def read_it(value: Any) -> Any:
        if type(value) is not kind:
            raise _UnfitError(problem)
        return value

    return read_it


def _number(value: Any) -> float:
    if type(value) is not float and type(value) is not int:
        raise _UnfitError("is no number")
    return float(value)


def _path(value: Any) -> Path:
    if type(value) is not str or "\0" in value:
        raise _UnfitError("is no path")
    return Path(value)


def _one_of(choices: tuple[object, ...]) -> _Read:
    def read_it(value: Any) -> Any:
        if type(value) is not str or value not in choices:
            raise _UnfitError("is none of the words that are known here")
        return value

    return read_it


def _items(of_item: _Read) -> _Read:
    def read_it(value: Any) -> Any:
        if type(value) is not list:
            raise _UnfitError("is no list")
        read_items: list[Any] = []
        for index, each in enumerate(value):
            try:
                read_items.append(of_item(each))
            except _UnfitError as unfit:
                raise unfit.at(f"[{index}]") from None
        return tuple(read_items)

    return read_it


def _values(of_value: _Read) -> _Read:
    def read_it(value: Any) -> Any:
        if type(value) is not dict:
            raise _UnfitError("is no object")
        try:
            return {key: of_value(each) for key, each in value.items()}
        except _UnfitError as unfit:
            raise unfit.at("[…]") from None  # the key is not ours and may be private

    return read_it


# --- unions -----------------------------------------------------------------------------------------------


def _union_reader(arguments: tuple[Any, ...], tags: _Tags) -> _Read:
    optional = type(None) in arguments
    rest = tuple(each for each in arguments if each is not type(None))
    read_some = _reader(rest[0], tags) if len(rest) == 1 else _Union(rest, tags).read
    if not optional:
        return read_some
    return lambda value: None if value is None else read_some(value)


def _union_writer(arguments: tuple[Any, ...], tags: _Tags) -> _Write:
    rest = tuple(each for each in arguments if each is not type(None))
    write_some = _writer(rest[0], tags) if len(rest) == 1 else _Union(rest, tags).write
    return lambda value: None if value is None else write_some(value)


class _Union:
    """A union inside a class: its members are told apart by tags of the field's, or by their names."""

    def __init__(self, classes: tuple[Any, ...], tags: _Tags) -> None:
        self._classes = tags or {_snake(each.__name__): each for each in classes}
        self._tags = {cls: tag for tag, cls in self._classes.items()}
        assert self._tags.keys() == set(classes), "a tag for each class"

    def read(self, data: Any) -> Any:
        if type(data) is not dict:
            raise _UnfitError("is no object")
        tag = data.get(TAG)
        cls = self._classes.get(tag) if type(tag) is str else None
        if cls is None:
            raise _UnfitError("is no type that is known here", f".{TAG}")
        return _shape(cls).read({name: value for name, value in data.items() if name != TAG})

    def write(self, record: Any) -> Any:
        return {TAG: self._tags[type(record)], **_shape(type(record)).write(record)}


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
