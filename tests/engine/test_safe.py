"""Text that may be shown: bounded, plain, masked (S24)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwright.engine.safe import MAX_ERROR, MAX_MESSAGE, cut, error_text, mask, safe_message


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer s3cr3t-v4lue",
        "bearer s3cr3t-v4lue",
        "api_key=s3cr3t-v4lue",
        "password: s3cr3t-v4lue",
        '{"client_secret": "s3cr3t-v4lue"}',
        "{'token': 's3cr3t-v4lue'}",
        "AWS_SECRET_ACCESS_KEY=s3cr3t-v4lue",
        "tool --token s3cr3t-v4lue --verbose",
        "X-Auth-Token => s3cr3t-v4lue",
        "https://user:s3cr3t-v4lue@example.org/x",
    ],
)
def test_secrets_are_masked(text: str) -> None:
    """No form in which people write a secret survives, in messages and in error texts."""
    assert "s3cr3t" not in safe_message(text)
    assert "s3cr3t" not in error_text(text)


def test_ordinary_text_stays() -> None:
    """What names no secret is not touched."""
    text = "inspect: $.score is NaN: JSON has no NaN; use null or a string (keyboard=de)"
    assert mask(text).startswith("inspect: $.score is NaN: JSON has no NaN")
    assert safe_message("One\n\ttwo   three") == "One two three"


def test_nothing_says_so() -> None:
    """A safe message is never empty."""
    assert safe_message("  \n\x00 ") == "The cause is not known."


def test_masking_is_linear() -> None:
    """A long text of one word does not take long."""
    began = time.perf_counter()
    error_text("a-" * 500_000)
    error_text("key" * 300_000)
    assert time.perf_counter() - began < 5


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=4_000))
def test_bounds_hold_for_any_text(text: str) -> None:
    """Whatever comes in, what goes out fits, encodes, and is one paragraph or bounded text."""
    message, error = safe_message(text), error_text(text)
    assert 0 < len(message.encode()) <= MAX_MESSAGE
    assert "\n" not in message
    assert len(error.encode()) <= MAX_ERROR


@given(st.text(max_size=100), st.integers(3, 60))
def test_cutting_keeps_whole_characters(text: str, limit: int) -> None:
    """A cut falls between characters and is marked."""
    short = cut(text, limit)
    assert len(short.encode()) <= limit
    assert short == text or text.startswith(short[:-1])
