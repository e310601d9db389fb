"""Times as people and programs read them: RFC 3339 in UTC, to the microsecond."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(us: int) -> datetime:
    """An aware datetime from UTC microseconds, exact."""
    return _EPOCH + timedelta(microseconds=us)


def moment_or_none(us: int | None) -> datetime | None:
    """The same for a time that may be missing."""
    return None if us is None else moment(us)


def rfc3339(at: datetime | None) -> str | None:
    """``2026-01-02T03:04:05.678901Z``; a missing time stays ``None``."""
    return None if at is None else at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def rfc3339_us(us: int | None) -> str | None:
    """The same from UTC microseconds."""
    return rfc3339(moment_or_none(us))


def microseconds(text: str) -> int:
    """UTC microseconds of a time in RFC 3339.

    Raises:
        ValueError: It is none, or has no zone.
    """
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError("a time without a zone")
    return (found - _EPOCH) // timedelta(microseconds=1)
