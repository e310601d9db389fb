"""Text from a command line into the JSON of a declared type."""

import json
import re
from contextlib import suppress
from datetime import timedelta

from runwright.engine.authoring.conversion.containers import PLAIN
from runwright.engine.authoring.conversion.scalars import Duration
from runwright.engine.authoring.conversion.shape import NotConvertible, Shape
from runwright.eventstore.values import Json

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_WORDS: dict[str, bool] = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def read_duration(text: str) -> timedelta:
    """Read a duration as people write it: seconds, or a number with ``s``, ``m``, ``h`` or ``d``.

    Raises:
        ValueError: When the text is anything else.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError("a duration is a number of seconds, or a number with s, m, h or d")
    return timedelta(seconds=float(match[1]) * _SECONDS[match[2]])


def coerce_setting(text: str, shape: Shape) -> Json:
    """Convert the value of ``-s key=value`` to the JSON of the field's declared type.

    Args:
        text: What stands after the equals sign.
        shape: The field's shape.

    Raises:
        NotConvertible: When the text is no such value.
    """
    for candidate in _candidates(text, shape):
        try:
            shape.load(candidate)
        except NotConvertible:
            continue
        return candidate
    if shape.kinds <= {"array", "object"}:
        raise NotConvertible(f"{shape.name} cannot be written as plain text", "write it as JSON: -s key:=JSON")
    known = shape.finite()
    fix = f"one of {', '.join(str(value) for value in known)}" if known else ""
    raise NotConvertible(f"the text is no {shape.name}", fix)


def readings(text: str) -> list[Json]:
    """What the value of ``-s key=value`` could have been converted to, whatever type the field has."""
    found = _candidates(text, PLAIN)
    with suppress(ValueError, OverflowError):
        found.append(read_duration(text).total_seconds())
    return found


def _candidates(text: str, shape: Shape) -> list[Json]:
    """What the text could mean, the type's likeliest reading first."""
    found: list[Json] = []
    if isinstance(shape, Duration):
        try:
            found.append(read_duration(text).total_seconds())
        except (ValueError, OverflowError):
            return found
    for read in (_word, _number, _null):
        found.extend(read(text, shape))
    if "string" in shape.kinds:
        found.append(text)
    if shape.kinds & {"array", "object"}:
        found.extend(_document(text))
    return found


def _word(text: str, shape: Shape) -> list[Json]:
    word = _WORDS.get(text.lower())
    return [word] if word is not None and "boolean" in shape.kinds else []


def _number(text: str, shape: Shape) -> list[Json]:
    if not shape.kinds & {"integer", "number"}:
        return []
    found: list[Json] = []
    for kind in (int, float):
        try:
            found.append(kind(text))
        except ValueError:
            continue
    return found


def _null(text: str, shape: Shape) -> list[Json]:
    return [None] if text in ("null", "none", "None") and "null" in shape.kinds else []


def _document(text: str) -> list[Json]:
    try:
        return [json.loads(text)]
    except ValueError:
        return []
