"""Texts at the edge: whatever names something in a command is text that the store can hold, before anything is read."""

from functools import cache
from typing import Any

from attrs import fields

from runwright.engine.results import Conflict


def check_texts(*commands: Any) -> Conflict | None:
    """Refuse a command, or a caller, with anything but text where a text belongs; programs hand in what they like.

    Args:
        commands: Frozen classes of what is asked, and of who asks.
    """
    for command in commands:
        for name, optional in _texts(command.__class__):
            problem = _problem(getattr(command, name), optional)
            if problem is not None:
                return Conflict("input_invalid", {"path": name, "problem": problem})
    return None


def _problem(value: object, optional: bool) -> str | None:
    if value is None and optional:
        return None
    if not isinstance(value, str):
        return f"is {type(value).__name__}, and has to be a text"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "holds half of a character pair, which no text has"
    return None


@cache
def _texts(kind: type[Any]) -> tuple[tuple[str, bool], ...]:
    """The fields of a class that hold a text, each with whether it may be missing."""
    found = []
    for field in fields(kind):
        if field.type in (str, str | None):
            found.append((field.name, field.type is not str))
    return tuple(found)
