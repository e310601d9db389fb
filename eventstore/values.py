"""Canonical JSON: what a value may be, its one text, and the strict way back."""

import json
import math
from typing import Any, Never, TypeAlias, cast

from runwright.eventstore.errors import PayloadTooLarge, ValueRefused

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
JsonObject: TypeAlias = dict[str, Json]

#: The most bytes that one value may have when encoded.
MAX_VALUE = 16 * 1024 * 1024
#: The most bytes that the control facts of one event may have.
MAX_DATA = 64 * 1024
#: How deep a value may be nested.
MAX_DEPTH = 200
#: The most digits of an integer: what CPython itself reads and writes.
MAX_DIGITS = 4300

_INTEGER_BOUND = 10**MAX_DIGITS
#: Every element takes two bytes or more; more elements cannot be encoded within a limit.
_LEAST_BYTES = 2

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, sort_keys=True, separators=(",", ":")
).encode


def encode(value: object, limit: int = MAX_VALUE) -> str:
    """Answer the canonical text of a value: keys sorted by code point, no spaces, shortest floats.

    Args:
        value: ``None``, or exactly a `bool`, `int`, `float`, `str`, `list` or `dict`, nested.
        limit: The most bytes; what is kept in the log has no more than 16 MiB.

    Returns:
        The text; it encodes as UTF-8.

    Raises:
        ValueRefused: The value, or something in it, has no JSON form; the JSON path is named.
        PayloadTooLarge: The text is over the limit.
    """
    if not _is_plain(value, limit):
        _explain(value)
    try:
        text = _encode(value)
        size = len(text) if text.isascii() else len(text.encode())
    except (ValueError, TypeError, RecursionError):
        # NaN, a long integer or a lone surrogate: found here for free, and named by the slow walk.
        _explain(value)
    if size > limit:
        raise PayloadTooLarge("A value", limit, size)
    return text


def decode(text: str, limit: int = MAX_VALUE) -> Json:
    """Read JSON text from outside, accepting nothing that `encode` would not have written.

    Args:
        text: The text.
        limit: The most bytes.

    Raises:
        ValueRefused: The text is no JSON, or holds NaN, an infinite number, two equal keys in one object,
            a lone surrogate, an integer that is too long, or is nested too deeply.
        PayloadTooLarge: The text is over the limit.
    """
    if len(text) > limit:
        raise PayloadTooLarge("A value", limit, len(text))
    try:
        value = cast(Json, _strict.decode(text))
    except json.JSONDecodeError as error:
        raise ValueRefused(
            "$", f"is no JSON (line {error.lineno}, column {error.colno})", "write one JSON value"
        ) from None
    except RecursionError:
        raise ValueRefused("$", f"is nested over {MAX_DEPTH} deep", "flatten it") from None
    except ValueError:
        # The interpreter's own limit on digits is the only other one that the decoder raises.
        raise ValueRefused("$", f"holds an integer over {MAX_DIGITS:,} digits", "use a string") from None
    encode(value, limit)
    return value


def _is_plain(value: object, limit: int) -> bool:
    """Tell by a fast walk, level by level, whether types, keys and depth are right."""
    level = [value]
    elements = 0
    for deeper_allowed in range(MAX_DEPTH, -1, -1):
        deeper: list[object] = []
        for each in level:
            kind = type(each)
            if kind is dict and deeper_allowed:
                inner = cast("dict[object, object]", each)
                for key in inner:
                    if type(key) is not str:
                        return False
                deeper.extend(inner.values())
            elif kind is list and deeper_allowed:
                deeper.extend(cast("list[object]", each))
            elif not (kind is str or kind is int or kind is bool or each is None or kind is float):
                return False
        if not deeper:
            return True
        elements += len(deeper)
        if elements > limit // _LEAST_BYTES:
            raise PayloadTooLarge("A value", limit)
        level = deeper
    return False


def _explain(value: object) -> Never:
    """Find what is wrong with a value that has no JSON form, and say where."""
    _walk(value, "$", ())
    raise ValueRefused("$", "changed while it was being stored", "hand in a value that nobody else changes")


def _walk(value: object, path: str, above: tuple[int, ...]) -> None:
    kind = type(value)
    if kind is dict or kind is list:
        if id(value) in above:
            raise ValueRefused(path, "contains itself", "break the cycle")
        if len(above) >= MAX_DEPTH:
            raise ValueRefused(path, f"is nested over {MAX_DEPTH} deep", "flatten it")
        above = (*above, id(value))
        if kind is dict:
            for key, inner in cast("dict[object, object]", value).items():
                _walk_key(key, path)
                _walk(inner, path + step(cast(str, key)), above)
        else:
            for index, inner in enumerate(cast("list[object]", value)):
                _walk(inner, f"{path}[{index}]", above)
    elif kind is str:
        _refuse_surrogates(cast(str, value), path, "holds a lone surrogate")
    elif kind is float:
        _refuse_endless(cast(float, value), path)
    elif kind is int:
        if abs(cast(int, value)) >= _INTEGER_BOUND:
            raise ValueRefused(path, f"is an integer over {MAX_DIGITS:,} digits", "use a string")
    elif value is not None and kind is not bool:
        raise ValueRefused(path, f"is a {kind.__qualname__}, which JSON does not have", _fix(value))


def _walk_key(key: object, path: str) -> None:
    if type(key) is not str:
        raise ValueRefused(path, f"has a key that is a {type(key).__qualname__}", "use strings as keys")
    _refuse_surrogates(key, path, "has a key with a lone surrogate")


def _refuse_surrogates(text: str, path: str, problem: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueRefused(path, problem, "decode the text with errors='replace'") from None


def _refuse_endless(number: float, path: str) -> None:
    if math.isnan(number):
        raise ValueRefused(path, "is NaN: JSON has no NaN", "use null or a string")
    if math.isinf(number):
        raise ValueRefused(path, "is infinite: JSON has no infinity", "use null or a string")


def _fix(value: object) -> str:
    match value:
        case tuple() | set() | frozenset():
            return "convert it with list(...)"
        case bytes() | bytearray():
            return "decode it, or encode it as base64"
        case dict():
            return "convert it with dict(...)"
        case str() | bool() | int() | float() | list():
            return "convert it to the plain type"
        case _:
            return "convert it to plain JSON values first"


def step(key: str) -> str:
    """Write one step of a JSON path: ``.name``, or ``["any key"]``."""
    return f".{key}" if key.isidentifier() else f"[{json.dumps(key)}]"


def _refuse_constant(name: str) -> Never:
    raise ValueRefused("$", f"holds {name}: JSON has no {name}", "use null or a string")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueRefused("$", "holds a number too large for a float", "use a string")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueRefused("$", "holds an object with two equal keys", "keep one of them")
    return found


_strict = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique)
