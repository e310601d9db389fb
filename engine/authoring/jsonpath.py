"""The small path language into JSON: ``$``, ``.name``, ``[n]`` and ``["any key"]``."""

import json
import re
from collections.abc import Iterable
from enum import Enum
from typing import Final, Literal, TypeAlias

from runwright.eventstore.values import Json

Step: TypeAlias = str | int

_STEP = re.compile(
    r"""\.(?P<name>[A-Za-z_][A-Za-z0-9_-]*)|\[(?P<index>0|[1-9][0-9]*)\]|\[(?P<key>"(?:[^"\\]|\\.)*")\]"""
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Missing(Enum):
    """The answer of a path that leads nowhere, which is not the same as ``null``."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


class PathInvalid(ValueError):
    """A text that is no path.

    Attributes:
        at: The offset of the first character that does not fit.
    """

    def __init__(self, text: str, at: int) -> None:
        self.at = at
        super().__init__(f"{text!r} is no path: character {at + 1} does not fit")


def parse(text: str) -> tuple[Step, ...]:
    """Read a path.

    Args:
        text: For example ``$.a[1]["b c"]``.

    Returns:
        The steps: a key as text, an index as a number.

    Raises:
        PathInvalid: When the text is anything else.
    """
    if not text.startswith("$"):
        raise PathInvalid(text, 0)
    steps: list[Step] = []
    at = 1
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            raise PathInvalid(text, at)
        if (name := match["name"]) is not None:
            steps.append(name)
        elif (index := match["index"]) is not None:
            steps.append(int(index))
        else:
            steps.append(_key(text, at, match["key"]))
        at = match.end()
    return tuple(steps)


def _key(text: str, at: int, quoted: str) -> str:
    try:
        key: str = json.loads(quoted)
    except ValueError:
        raise PathInvalid(text, at) from None
    return key


def write(steps: Iterable[Step]) -> str:
    """Write steps as a path, the inverse of `parse`."""
    parts = ["$"]
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN.fullmatch(step):
            parts.append(f".{step}")
        else:
            parts.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(parts)


def find(value: Json, steps: Iterable[Step]) -> Json | Literal[Missing.MISSING]:
    """Follow steps into a value.

    Returns:
        What stands there, or `MISSING` where the path leads nowhere.
    """
    for step in steps:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                return MISSING
            value = value[step]
        else:
            if not isinstance(value, dict) or step not in value:
                return MISSING
            value = value[step]
    return value
