"""Events to stored text and back: functions generated once per class, and cattrs to say what is wrong.

The generated functions take the straight path only. Whatever does not fit it, written or read, is handed
to the slow path, which knows how to name the field.
"""

import functools
import json
import types
import typing
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring as _quoted
from typing import TYPE_CHECKING, Any, Never, cast

import attrs

from runwright.eventstore.errors import EventUnreadable, PayloadTooLarge, UnknownEvent, ValueRefused
from runwright.eventstore.events.event import JSON, TEXT, Content, Event, body_fields
from runwright.eventstore.events.registry import REGISTRY
from runwright.eventstore.values import MAX_DATA, encode

if TYPE_CHECKING:
    import cattrs

_parse = json.JSONDecoder().decode


class _UnfitError(Exception):
    """A value or a stored field is off the straight path."""


@attrs.frozen
class _Shape:
    """What the codec knows of one event class."""

    write: Callable[[Any], str]
    read: Callable[[Any, Mapping[str, Content | None]], Event]
    private: tuple[str, ...]


def encode_event(event: Event) -> tuple[str, str | None]:
    """Answer an event's control facts and private values as canonical JSON texts.

    Args:
        event: An instance of a registered class.

    Returns:
        The text for ``data``, and the one for ``body``: an object of the `Content` fields that are not
        ``None``, or ``None`` where there is no such field.

    Raises:
        ValueRefused: A field has another type than its class declares, or a value has no JSON form.
        PayloadTooLarge: The control facts are over 64 KiB, or a private value over 16 MiB.
    """
    shape = _shape(type(event))
    try:
        data = shape.write(event)
        size = len(data) if data.isascii() else len(data.encode())
    except (_UnfitError, TypeError, ValueError, AttributeError):
        _explain_write(event)
    if size > MAX_DATA:
        raise PayloadTooLarge(f"The data of {event.type}", MAX_DATA, size)
    body = None
    for name in shape.private:
        content = getattr(event, name)
        if content is not None:
            member = f'"{name}":{_encode_content(name, content)}'
            body = member if body is None else f"{body},{member}"
    return data, None if body is None else f"{{{body}}}"


def decode_event(type: str, data: str, body: str | None, position: int) -> Event:
    """Read a stored event.

    Args:
        type: Its stored type name.
        data: Its stored control facts.
        body: Its stored private values; ``None`` where there are none, were erased, or were not read.
        position: Its place in the log, for the error.

    Raises:
        UnknownEvent: No class has that name.
        EventUnreadable: A field is unknown, missing, or of another type.
    """
    try:
        parsed = _parse(data)
    except (ValueError, RecursionError):
        raise EventUnreadable(position, type, "its data is no JSON") from None
    return decode_parsed(type, parsed, body, position)


def decode_parsed(type: str, data: object, body: str | None, position: int) -> Event:
    """Read a stored event whose control facts were parsed before, many at once (see `parse_many`)."""
    cls = REGISTRY.get(type)
    if cls is None:
        raise UnknownEvent(position, type)
    shape = _shape(cls)
    contents = _decode_body(shape, body, type, position) if body is not None else _NOTHING
    try:
        return shape.read(data, contents)
    except (_UnfitError, KeyError, TypeError):
        raise EventUnreadable(position, type, _explain_read(cls, data)) from None


def parse_many(texts: list[str]) -> list[object]:
    """Parse the control facts of many events in one go.

    Raises:
        ValueError: One of them is no JSON.
    """
    parsed = cast("list[object]", _parse(f"[{','.join(texts)}]"))
    if len(parsed) != len(texts):
        raise ValueError("a text holds several values")
    return parsed


# --- private values ---------------------------------------------------------------------------------------

_NOTHING: Mapping[str, Content | None] = types.MappingProxyType({})


def _encode_content(name: str, content: object) -> str:
    if type(content) is not Content:
        raise ValueRefused(name, "is no Content", "wrap it with Content.json or Content.text")
    if content.media == TEXT:
        if type(content.value) is not str:
            raise ValueRefused(name, "is declared as text and is none", "wrap it with Content.json")
    elif content.media != JSON:
        raise ValueRefused(name, "has an unknown media type", f"use {JSON} or {TEXT}")
    return f'{{"media":"{content.media}","value":{encode(content.value)}}}'


def _decode_body(shape: _Shape, body: str, type: str, position: int) -> dict[str, Content | None]:
    try:
        parsed = _parse(body)
    except (ValueError, RecursionError):
        raise EventUnreadable(position, type, "its body is no JSON") from None
    contents: dict[str, Content | None] = {}
    if not isinstance(parsed, dict):
        raise EventUnreadable(position, type, "its body is no object")
    for name, member in cast("dict[str, Any]", parsed).items():
        if name not in shape.private:
            raise EventUnreadable(position, type, f"unknown field {name} in its body")
        match member:
            case {"media": "application/json" | "text/plain" as media, "value": value} if len(member) == 2:
                if media == TEXT and _type_name(value) != "str":
                    raise EventUnreadable(position, type, f"{name} in its body is no text")
                contents[name] = Content(media, value)
            case _:
                raise EventUnreadable(position, type, f"{name} in its body has no media type and value")
    return contents


def _type_name(value: object) -> str:
    """Name a value's exact type."""
    return value.__class__.__name__


# --- generated functions ----------------------------------------------------------------------------------


_shapes: dict[type[Event], _Shape] = {}


def _shape(cls: type[Event]) -> _Shape:
    shape = _shapes.get(cls)
    if shape is None:
        shape = _shapes[cls] = _generate(cls)
    return shape


def _generate(cls: type[Event]) -> _Shape:
    private = body_fields(cls)
    scope: dict[str, Any] = {"quoted": _quoted, "Unfit": _UnfitError, "cls": cls}
    lines = [*_writer("write", cls, scope, skip=private), *_reader("read", cls, scope, private)]
    exec("\n".join(lines), scope)  # noqa: S102 - text made of our own class definitions only
    return _Shape(scope["write"], scope["read"], tuple(sorted(private)))


def _writer(name: str, cls: type[Any], scope: dict[str, Any], skip: frozenset[str] = frozenset()) -> list[str]:
    """Generate a function that writes an instance's fields, keys in canonical order."""
    hints = typing.get_type_hints(cls)
    before: list[str] = []
    lines = [f"def {name}(event):"]
    parts: list[str] = []
    for field in sorted(attrs.fields(cls), key=lambda each: each.name):
        if field.name in skip:
            continue
        value = f"v_{field.name}"
        lines.append(f"    {value} = event.{field.name}")
        parts.append(f'"{field.name}":{{{_written(value, hints[field.name], scope, before)}}}')
    lines.append(f"    return f'{{{{{','.join(parts)}}}}}'")
    return [*before, *lines]


def _written(value: str, kind: Any, scope: dict[str, Any], before: list[str]) -> str:
    """Write the expression that turns a variable into JSON text, or raises `_UnfitError`."""
    optional, kind = _optional(kind)
    if kind is str:
        text = f"(quoted({value}) if {value}.__class__ is str else unfit())"
    elif kind is int:
        text = f"({value} if {value}.__class__ is int else unfit())"
    elif kind is bool:
        text = f"(true if {value} is True else false if {value} is False else unfit())"
    elif typing.get_origin(kind) is tuple:
        inner = _written("each", typing.get_args(kind)[0], scope, before)
        text = f"(listed([str({inner}) for each in {value}]) if {value}.__class__ is tuple else unfit())"
    else:
        name = f"write_{kind.__name__}"
        if name not in scope:
            scope[name] = None  # marks it as generated; the definition that follows replaces it
            scope[f"class_{kind.__name__}"] = kind
            before.extend(_writer(name, kind, scope, frozenset()))
        text = f"({name}({value}) if {value}.__class__ is class_{kind.__name__} else unfit())"
    scope.update(unfit=_unfit, true="true", false="false", null="null", listed=_listed)
    return f"null if {value} is None else {text}" if optional else text


def _reader(name: str, cls: type[Any], scope: dict[str, Any], private: frozenset[str] = frozenset()) -> list[str]:
    """Generate a function that makes an instance from parsed facts and contents."""
    hints = typing.get_type_hints(cls)
    before: list[str] = []
    names = [field.name for field in attrs.fields(cls) if field.name not in private]
    lines = [f"def {name}(data, contents=None):"]
    lines.append(f"    if data.__class__ is not dict or len(data) != {len(names)}: raise Unfit")
    arguments: list[str] = []
    for each in names:
        value = f"v_{each}"
        lines.append(f"    {value} = data['{each}']")
        lines.extend(_checked(value, hints[each], scope, before))
        arguments.append(f"{each}={value}")
    arguments.extend(f"{each}=contents.get('{each}')" for each in sorted(private))
    scope[f"make_{name}"] = cls
    lines.append(f"    return make_{name}({', '.join(arguments)})")
    return [*before, *lines]


def _checked(value: str, kind: Any, scope: dict[str, Any], before: list[str]) -> list[str]:
    """Write the lines that check a parsed variable and turn it into its declared type."""
    optional, kind = _optional(kind)
    unless = f"{value} is not None and " if optional else ""
    if kind in (str, int, bool):
        return [f"    if {unless}{value}.__class__ is not {kind.__name__}: raise Unfit"]
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)[0]
        made = f"tuple({value})"
        if inner in (str, int, bool):
            test = f"any(each.__class__ is not {inner.__name__} for each in {value})"
        else:
            made = f"tuple([{_read_nested(inner, scope, before)}(each) for each in {value}])"
            test = "False"
        lines = [f"    if {unless}({value}.__class__ is not list or {test}): raise Unfit"]
        return [*lines, f"    {value} = {made}" + (f" if {value} is not None else None" if optional else "")]
    made = f"{_read_nested(kind, scope, before)}({value})"
    return [f"    {value} = {made}" + (f" if {value} is not None else None" if optional else "")]


def _read_nested(kind: Any, scope: dict[str, Any], before: list[str]) -> str:
    name = f"read_{kind.__name__}"
    if name not in scope:
        scope[name] = None
        before.extend(_reader(name, kind, scope))
    return name


def _unfit() -> Never:
    raise _UnfitError


def _listed(items: list[str]) -> str:
    return f"[{','.join(items)}]"


def _optional(kind: Any) -> tuple[bool, Any]:
    """Take ``None`` off a type: whether it was there, and what is left."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        (inner,) = (each for each in typing.get_args(kind) if each is not type(None))
        return True, inner
    return False, kind


# --- the slow path ----------------------------------------------------------------------------------------


def _explain_write(event: Event) -> Never:
    """Name the field that kept an event from being written."""
    _explain_fields(event, event.type, body_fields(type(event)))
    raise ValueRefused(event.type, "changed while it was being stored", "hand in frozen values only")


def _explain_fields(value: Any, path: str, skip: frozenset[str] = frozenset()) -> None:
    hints = typing.get_type_hints(type(value))
    for field in attrs.fields(type(value)):
        if field.name not in skip:
            _explain_value(getattr(value, field.name), hints[field.name], f"{path}.{field.name}")


def _explain_value(value: Any, kind: Any, path: str) -> None:
    optional, kind = _optional(kind)
    if value is None and optional:
        return
    if typing.get_origin(kind) is tuple:
        wanted: Any = tuple
    else:
        wanted = kind
    if type(value) is not wanted:
        raise ValueRefused(path, f"is a {_type_name(value)}", f"hand in exactly {wanted.__name__}")
    if wanted is tuple:
        for index, each in enumerate(value):
            _explain_value(each, typing.get_args(kind)[0], f"{path}[{index}]")
    elif wanted in (str, int):
        try:
            encode(value)
        except ValueRefused as error:
            raise ValueRefused(path, error.problem, error.fix) from None
    elif attrs.has(wanted):
        _explain_fields(value, path)


def _explain_read(cls: type[Any], data: object) -> str:
    """Say why parsed facts do not make an event."""
    if not isinstance(data, dict):
        return "its data is no object"
    names = {field.name for field in attrs.fields(cls)} - body_fields(cls)
    if missing := sorted(names - data.keys()):
        return f"missing field {missing[0]}"
    if unknown := sorted(data.keys() - names):
        return f"unknown field {unknown[0]}"
    import cattrs  # takes a while to import, and only what is damaged needs it

    try:
        _slow_converter().structure(data, cls)
    except (cattrs.ClassValidationError, cattrs.IterableValidationError) as error:
        return cattrs.transform_error(error)[0]
    return "a field has another type than its class declares"


@functools.cache
def _slow_converter() -> "cattrs.Converter":
    """Make a converter that takes exact types only and names the path of what it refuses."""
    import cattrs

    converter = cattrs.Converter(forbid_extra_keys=True, detailed_validation=True)

    def exact(kind: type[Any]) -> Callable[[Any, Any], Any]:
        def structure(value: Any, _: Any) -> Any:
            if type(value) is not kind:
                raise ValueError(kind.__name__)
            return value

        return structure

    for kind in (str, int, bool):
        converter.register_structure_hook(kind, exact(kind))
    return converter
