"""Times as people declare them, in the microseconds that everything else counts in."""

from datetime import UTC, datetime, timedelta

#: A hundred years: what nobody means, and what still fits every clock.
LONGEST_US = 100 * 366 * 86_400 * 1_000_000

#: The last moment that a time can name, in UTC microseconds: nothing is due later.
LATEST_US = (datetime.max.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def limit_us(value: object) -> int | None:
    """A declared limit in microseconds.

    Args:
        value: Seconds as a number, a timedelta, or ``None`` for no limit.

    Raises:
        ValueError: When it is anything else, not more than zero, or longer than a hundred years.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | timedelta):
        raise ValueError(f"a time is seconds, a timedelta or None, not {type(value).__name__}")
    if isinstance(value, timedelta):
        amount = value // timedelta(microseconds=1)
    elif 0 < value < LONGEST_US / 1_000_000:
        amount = round(value * 1_000_000)
    else:
        amount = 0
    if not 0 < amount <= LONGEST_US:
        raise ValueError("a time is more than zero and at most a hundred years")
    return amount


def delay_us(value: timedelta) -> int:
    """A timedelta in microseconds, at least zero."""
    return max(0, value // timedelta(microseconds=1))
