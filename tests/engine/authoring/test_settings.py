"""Text from a command line becomes the JSON of a declared type."""

from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest

from runwright import Json
from runwright.engine.authoring.conversion import NotConvertible, coerce_setting, read_duration, readings, shape_of


class Colour(Enum):
    """Colours by number."""

    RED = 1


@pytest.mark.parametrize(
    ("text", "declared", "value"),
    [
        ("a b", str, "a b"),
        ("3", str, "3"),
        ("3", int, 3),
        ("3", float, 3),
        ("2.5", float, 2.5),
        ("yes", bool, True),
        ("OFF", bool, False),
        ("./x", Path, "./x"),
        ("b", Literal["a", "b"], "b"),
        ("2", Literal[1, 2], 2),
        ("1", Colour, 1),
        ("5m", timedelta, 300.0),
        ("90", timedelta, 90.0),
        ("2026-01-01T00:00:00Z", datetime, "2026-01-01T00:00:00Z"),
        ("1.10", Decimal, "1.10"),
        ("null", int | None, None),
        ("7", int | None, 7),
        ("true", bool | str, True),
        ('["a"]', list[str], ["a"]),
        ('{"a": 1}', dict[str, int], {"a": 1}),
    ],
    ids=str,
)
def test_text_becomes_a_value_of_its_type(text: str, declared: Any, value: Json) -> None:
    """The likeliest reading of the declared type wins."""
    assert coerce_setting(text, shape_of(declared)) == value
    assert value in readings(text)  # where the type is not known any more, it can be told that it was meant


@pytest.mark.parametrize(
    ("text", "declared", "fix"),
    [
        ("x", int, "no int"),
        ("x", list[str], "key:=JSON"),
        ("c", Literal["a", "b"], "one of a, b"),
        ("maybe", bool, "one of True, False"),
        ("5 minutes", timedelta, "no timedelta"),
        ("nan", float, "no float"),
    ],
    ids=str,
)
def test_text_that_is_no_such_value_is_refused(text: str, declared: Any, fix: str) -> None:
    """The refusal says what would do, and does not repeat the text."""
    with pytest.raises(NotConvertible, match=fix):
        coerce_setting(text, shape_of(declared))


@pytest.mark.parametrize(("text", "seconds"), [("3", 3), ("1.5s", 1.5), ("2m", 120), ("1h", 3600), ("1d", 86400)])
def test_durations_are_read_as_people_write_them(text: str, seconds: float) -> None:
    """Seconds, or a number with its unit (fine print)."""
    assert read_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "m", "-1", "1w", "1 h", "1e3"])
def test_other_durations_are_refused(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="a duration is"):
        read_duration(text)
