"""The log's microseconds as a date that people and other tools read."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rfc3339(at: int) -> str:
    """Write a stamp in RFC 3339, UTC, always with six digits of a second.

    Args:
        at: Microseconds since 1970, as events carry them.
    """
    # Integer arithmetic: a float of seconds would round the last digit.
    moment = _EPOCH + timedelta(microseconds=at)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond:06d}Z"
