"""Texts at the edge: whatever names something in a command is text that the store can hold, before anything is read."""

from functools import cache
from typing import Any

from attrs import fields

from runwright.engine.results import Conflict
from runwright.engine.texts import text_problem


def check_texts(*commands: Any) -> Conflict | None:
    """Refuse a command, or a caller, with anything but text where a text belongs; programs hand in what they like.

    Args:
        commands: Frozen classes of what is asked, and of who asks.
    """
    for command in commands:
        for name, optional in _texts(command.__class__):
            value = getattr(command, name)
            problem = None if value is None and optional else text_problem(value)
            if problem is not None:
                return Conflict("input_invalid", {"path": name, "problem": problem})
    return None


@cache
def _texts(kind: type[Any]) -> tuple[tuple[str, bool], ...]:
    """The fields of a class that hold a text, each with whether it may be missing."""
    found = []
    for field in fields(kind):
        if field.type in (str, str | None):
            found.append((field.name, field.type is not str))
    return tuple(found)
