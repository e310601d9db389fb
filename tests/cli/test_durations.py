"""Durations and points in time as people type them."""

import pytest

from runwright.cli.durations import duration_text, parse_duration, parse_since
from runwright.cli.failures import Refused


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0), ("90", 90), ("1.5h", 5400), ("2d", 172800), ("10m", 600), (" 3s ", 3)]
)
def test_reads_durations(text: str, seconds: float) -> None:
    """Seconds, or a number with a unit."""
    assert parse_duration(text, "--timeout") == seconds


@pytest.mark.parametrize("text", ["0s", "90s", "90m", "10m", "2d", "84h", "1.5s", "1234567s"])
def test_writes_durations_as_they_are_typed(text: str) -> None:
    """In the largest unit that leaves no fraction, and readable again."""
    assert duration_text(parse_duration(text, "--timeout")) == text


@pytest.mark.parametrize("text", ["", "-1", "1w", "nan", "inf", "1e3", "1h30m", "٣s", "99999999d", "1 h"])
def test_refuses_everything_else(text: str) -> None:
    """What is no duration is a usage error that names the option and not the value."""
    with pytest.raises(Refused) as caught:
        parse_duration(text, "--timeout")
    assert caught.value.failure.exit_code == 2
    assert "--timeout" in caught.value.failure.message


def test_since_is_a_duration_or_a_date() -> None:
    """`--since` counts back from now, or names a time."""
    now = 1_800_000_000_000_000
    assert parse_since("2h", "--since", now) == now - 7_200_000_000
    assert parse_since("2026-01-31T08:00:00+00:00", "--since", now) == 1_769_846_400_000_000


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "", "0001-01-01T00:00:00+23:59"])
def test_since_refuses_what_is_neither(text: str) -> None:
    """Neither a duration nor a date, or a date that no clock can show."""
    with pytest.raises(Refused):
        parse_since(text, "--since", 0)
