"""Times as people write them, and the retry that is made of them."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from datetime import timedelta

from attrs import frozen


def seconds(n: float) -> timedelta:
    """``n`` seconds."""
    return timedelta(seconds=n)


def minutes(n: float) -> timedelta:
    """``n`` minutes."""
    return timedelta(minutes=n)


def hours(n: float) -> timedelta:
    """``n`` hours."""
    return timedelta(hours=n)


def days(n: float) -> timedelta:
    """``n`` days of 24 hours."""
    return timedelta(days=n)


@frozen
class Retry:
    """A declared retry: nothing is retried that did not ask for it.

    Attributes:
        attempts: All tries, the first included.
        first: The delay before the second try.
        factor: What each further delay is multiplied by.
        maximum: The longest delay.
    """

    attempts: int = 3
    first: timedelta = timedelta(seconds=1)
    factor: float = 2
    maximum: timedelta = timedelta(minutes=1)
