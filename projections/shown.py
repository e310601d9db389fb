"""Which fields of a row people are shown, and how."""

from typing import Any

from runwright.eventstore.transfer.stamp import rfc3339
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.projection import Projection
from runwright.projections.replace import field_names

#: Field names that hold a time in UTC microseconds, besides all that end in ``_at``.
_TIMES = frozenset({"since", "due", "deadline", "hour"})

HIDDEN = "(not shown)"


def shown_fields(projection: Projection[Any]) -> tuple[str, ...]:
    """Name the fields that a query shows: neither process identities nor token hashes."""
    return tuple(name for name in field_names(projection.row) if name not in projection.hidden)


def is_time(field: str) -> bool:
    """Tell whether a field holds a time."""
    return field.endswith("_at") or field in _TIMES


def shown(projection: Projection[Any], row: Any) -> JsonObject:
    """Answer a row as people are shown it, times in RFC 3339."""
    return {name: shown_value(projection, name, getattr(row, name)) for name in shown_fields(projection)}


def shown_value(projection: Projection[Any], field: str, value: Any) -> Json:
    """Answer one field's value as people are shown it."""
    if field in projection.hidden:
        return HIDDEN
    if is_time(field) and isinstance(value, int):  # a program's own row may keep a text under such a name
        return shown_time(value)
    plain: Json = value.hex() if isinstance(value, bytes) else value
    return plain


def shown_time(at: int | None) -> str | None:
    """Answer UTC microseconds in RFC 3339."""
    try:
        return None if at is None else rfc3339(at)
    except OverflowError:  # no time at all: somebody wrote it into a table by hand
        return str(at)
