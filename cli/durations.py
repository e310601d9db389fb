"""Durations and points in time as people type them."""

import math
import re
from datetime import UTC, datetime

from runwright.cli.failures import Refused

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)")
#: The longest that anything is waited for; a longer time is a slip of the keyboard.
_LONGEST = 10 * 365 * 86400.0


def parse_duration(text: str, name: str) -> float:
    """Read a duration: seconds, or a number with ``s``, ``m``, ``h`` or ``d``.

    Args:
        text: What was typed.
        name: The option or setting it was typed for; the message names it.

    Returns:
        Seconds.

    Raises:
        Refused: It has another form, or is longer than ten years.
    """
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match else math.inf
    if seconds > _LONGEST:
        raise Refused.usage(
            f"{name} is no duration",
            "Write seconds, or a number with s, m, h or d: 90, 1.5h, 2d.",
        )
    return seconds


def duration_text(seconds: float) -> str:
    """A duration as it is typed, in the largest unit that it is a whole number of: ``10m``, ``1.5s``."""
    unit = next((each for each in "dhm" if seconds and seconds % _UNITS[each] == 0), "s")
    return f"{seconds / _UNITS[unit]:f}".rstrip("0").rstrip(".") + unit


def parse_since(text: str, name: str, now: int) -> int:
    """Read a point in the past: a duration before now, or a date or time in ISO form.

    Args:
        text: What was typed.
        name: The option it was typed for.
        now: UTC in microseconds.

    Returns:
        UTC in microseconds.

    Raises:
        Refused: It is neither.
    """
    if _DURATION.fullmatch(text.strip()):
        return now - round(parse_duration(text, name) * 1_000_000)
    try:
        point = datetime.fromisoformat(text.strip())
        # A time without a zone is meant in the zone of whoever types it.
        return round(point.astimezone(UTC).timestamp() * 1_000_000)
    except (ValueError, OverflowError, OSError):
        raise Refused.usage(
            f"{name} is neither a duration nor a date",
            "Write how long ago (2h, 7d) or a date (2026-01-31, 2026-01-31T08:00).",
        ) from None
