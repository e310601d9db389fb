"""Text for people never steers a terminal."""

import json

from hypothesis import given
from hypothesis import strategies as st

from runwright.cli.output import encode_document
from runwright.cli.rendering.text import ago, byte_size, clean, one_line, plural, rfc3339, span

STEERING = "".join(chr(code) for code in [*range(0x20), 0x7F, *range(0x80, 0xA0), 0x202E, 0x2066, 0x2028, 0x200F])


@given(st.text() | st.text(alphabet=STEERING))
def test_no_control_character_survives(text: str) -> None:
    """Of the control characters only tab and newline reach a terminal."""
    shown = clean(text)
    assert not set(shown) & (set(STEERING) - set("\t\n"))
    assert "\n" not in one_line(text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)))
def test_documents_stay_equal_and_cannot_steer(value: object) -> None:
    """A JSON document on stdout reads back equal, and holds no raw control character."""
    text = encode_document(value)
    assert json.loads(text) == value
    assert not set(text) & set(STEERING)


def test_escapes_are_visible() -> None:
    """An escape sequence is shown, not obeyed."""
    assert clean("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m"
    assert clean("a\r\nb\rc") == "a\nb\\x0dc"


def test_cuts_long_lines() -> None:
    """A line in a list is cut with an ellipsis."""
    assert one_line("word " * 100, 20) == "word word word word…"


def test_times_and_sizes_read_at_a_glance() -> None:
    """Spans, ages, sizes and counts in words."""
    assert [span(us) for us in (0, 340_000, 4_200_000, 200_000_000, 7_500_000_000, 273_600_000_000)] == [
        "0 ms", "340 ms", "4.2 s", "3 min 20 s", "2 h 05 min", "3 d 4 h",
    ]  # fmt: skip
    assert [span(us) for us in (999_600, 59_960_000, 3_599_700_000)] == ["1.0 s", "1 min 00 s", "1 h 00 min"]
    now = 10_000_000_000
    assert [ago(now - us, now) for us in (0, 30_000_000, 300_000_000, -7_200_000_000)] == [
        "just now", "30 s ago", "5 min ago", "in 2 h",
    ]  # fmt: skip
    assert [byte_size(n) for n in (0, 999, 4100, 2_000_000)] == ["0 B", "999 B", "4.1 kB", "2.0 MB"]
    assert [plural(n, "run") for n in (0, 1, 1200)] == ["0 runs", "1 run", "1,200 runs"]
    assert rfc3339(1_769_846_400_000_001) == "2026-01-31T08:00:00.000001Z"
    assert rfc3339(None) is None
