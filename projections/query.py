"""Query: filter, sort and page the rows of any projection by field."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any, Final, TypeVar

import sqlalchemy
from attrs import frozen

from runwright.eventstore.database import Row, Statement, execute
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.errors import QueryTooLong, UnknownField, UnknownOperator, UnknownProjection, ValueUnfit
from runwright.projections.projection import Projection, Scalar
from runwright.projections.replace import field_types
from runwright.projections.shown import is_time, shown, shown_fields
from runwright.projections.statements import statements_of

RowT = TypeVar("RowT")

#: The longer ones first, so that ``a<=1`` is not read as ``a`` ``<`` ``=1``.
OPERATORS: Final = ("!=", "<=", ">=", "=", "<", ">", "~")

#: Rows of a page where nobody says how many.
PAGE: Final = 100

#: SQLite ends at a thousand conditions, two thousand fields to sort by, and patterns of 50,000 bytes.
CONDITIONS_MAX: Final = 32
SORTS_MAX: Final = 16
PATTERN_MAX: Final = 4096

_CURSOR: Final = re.compile(r"[0-9]{1,18}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TRUTHS: Final = {"true": True, "1": True, "false": False, "0": False}


@frozen
class Condition:
    """One condition on a field, its value in the field's own type.

    Attributes:
        field: The field.
        operator: One of `OPERATORS`; ``~`` compares with a pattern of ``*`` and ``?``, whatever the case.
        value: The value; ``None`` asks for rows that have none.
    """

    field: str
    operator: str
    value: Scalar


@frozen(kw_only=True)
class Query:
    """Which rows of one projection are asked for, and in which order.

    Attributes:
        projection: The projection.
        where: Conditions that all have to hold.
        sort: Fields to sort by, each with whether it descends; the key decides where they are equal.
        limit: How many rows at most.
        offset: How many rows to pass over.
    """

    projection: Projection[Any]
    where: tuple[Condition, ...] = ()
    sort: tuple[tuple[str, bool], ...] = ()
    limit: int = PAGE
    offset: int = 0


@frozen
class Page:
    """A page of rows as people are shown them; ``next`` is the cursor of the page behind it, if there is one."""

    items: list[JsonObject]
    next: str | None


def plan(
    projections: Iterable[Projection[Any]],
    name: str,
    *,
    where: Sequence[str] = (),
    sort: Sequence[str] = (),
    limit: int = PAGE,
    cursor: str | None = None,
) -> Query:
    """Check what somebody wrote and make a query of it.

    Args:
        projections: Those that may be asked.
        name: The projection's name.
        where: Conditions, ``status=failed``; ``null`` stands for no value, times are RFC 3339 or microseconds.
        sort: Fields, with ``-`` before one that descends.
        limit: How many rows at most.
        cursor: The `Page.next` of the page before.

    Raises:
        UnknownProjection: There is none of that name; the error names those there are. In the same way
            `UnknownField`, `UnknownOperator`, `ValueUnfit` and `QueryTooLong`.
    """
    known = {each.name: each for each in projections}
    if name not in known:
        raise UnknownProjection(name, known)
    projection = known[name]
    if cursor is not None and not _CURSOR.fullmatch(cursor):
        raise ValueUnfit(name, "cursor", "the cursor of a page before")
    for what, found, most in (("conditions", where, CONDITIONS_MAX), ("fields to sort by", sort, SORTS_MAX)):
        if len(found) > most:
            raise QueryTooLong(name, f"{len(found):,} {what}", most)
    return Query(
        projection=projection,
        where=tuple(_condition(projection, text) for text in where),
        sort=tuple((_field(projection, text.removeprefix("-")), text.startswith("-")) for text in sort),
        limit=limit,
        offset=int(cursor or 0),
    )


def query_table(connection: sqlalchemy.Connection, query: Query) -> Page:
    """Answer a page of a projection's table; every value is bound."""
    statements = statements_of(query.projection)
    columns = statements.table.c
    select = sqlalchemy.select(statements.table).where(*(_compared(columns[each.field], each) for each in query.where))
    for field, descends in query.sort:
        select = select.order_by(columns[field].desc() if descends else columns[field].asc())
    select = select.order_by(*(columns[name] for name in query.projection.key_columns))
    statement = Statement.of(select.limit(query.limit + 1).offset(query.offset))
    try:
        rows: Sequence[Row] = execute(connection, statement)
    except UnicodeEncodeError:
        rows = ()  # half of a character pair, which no table can hold: no row has such a value
    return _page(query, [statements.load(row) for row in rows])


def query_rows(rows: Iterable[Any], query: Query) -> Page:
    """Answer the same page from rows in memory."""
    found = [row for row in rows if all(_holds(row, each) for each in query.where)]
    found.sort(key=query.projection.row_key)
    for field, descends in reversed(query.sort):
        # As in the table: no value comes before all values.
        found.sort(key=lambda row, name=field: _ordered(getattr(row, name)), reverse=descends)  # type: ignore[misc]
    return _page(query, found[query.offset : query.offset + query.limit + 1])


def describe(projection: Projection[Any]) -> JsonObject:
    """Answer a projection's name, first sentence and fields, for a list of what can be asked."""
    fields: list[Json] = list(shown_fields(projection))
    first = (type(projection).__doc__ or "").strip().splitlines() or [""]
    return {"projection": projection.name, "holds": first[0], "fields": fields}


def _page(query: Query, rows: Sequence[Any]) -> Page:
    items = [shown(query.projection, row) for row in rows[: query.limit]]
    more = len(rows) > query.limit
    return Page(items, str(query.offset + query.limit) if more else None)


# --- what somebody wrote ----------------------------------------------------------------------------------


def _condition(projection: Projection[Any], text: str) -> Condition:
    at, operator = min(
        ((text.find(each), each) for each in OPERATORS if each in text),
        key=lambda found: (found[0], -len(found[1])),
        default=(0, ""),
    )
    if at < 1:
        raise UnknownOperator(text, OPERATORS)
    field = _field(projection, text[:at].strip())
    value = _value(projection, field, operator, text[at + len(operator) :].strip())
    return Condition(field, operator, value)


def _field(projection: Projection[Any], name: str) -> str:
    known = shown_fields(projection)
    if name not in known:
        raise UnknownField(projection.name, name, known)
    return name


def _value(projection: Projection[Any], field: str, operator: str, text: str) -> Scalar:
    kind, nullable = field_types(projection.row)[field]
    if text == "null" and nullable:
        if operator not in ("=", "!="):
            raise ValueUnfit(projection.name, field, "null by = and != only")
        return None
    if operator == "~":
        if kind is not str:
            raise ValueUnfit(projection.name, field, "no pattern, for it is no text")
        if len(text) > PATTERN_MAX:
            raise QueryTooLong(projection.name, f"a pattern of {len(text):,} characters", PATTERN_MAX)
        return _text(text, projection, field)
    if kind is str:
        return _text(text, projection, field)
    try:
        return _READERS[kind](text, field)
    except (ValueError, KeyError, OverflowError):
        raise ValueUnfit(projection.name, field, _EXPECTED.get(kind, "another value")) from None


def _text(text: str, projection: Projection[Any], field: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueUnfit(projection.name, field, "text; half of a character pair is none") from None
    return text


def _integer(text: str, field: str) -> int:
    if is_time(field) and not text.lstrip("-").isdigit():
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError("a time without a zone")
        return (moment - _EPOCH) // timedelta(microseconds=1)
    number = int(text)
    if abs(number) >= 2**63:
        raise ValueError("more than a column holds")
    return number


_READERS: Final[Mapping[type, Callable[[str, str], Scalar]]] = {
    int: _integer,
    bool: lambda text, _: _TRUTHS[text.lower()],
    float: lambda text, _: float(text),
    bytes: lambda text, _: bytes.fromhex(text),
}
_EXPECTED: Final[Mapping[type, str]] = {
    int: "a whole number, or a time in RFC 3339 with its zone where it is one",
    bool: "true or false",
    float: "a number",
    bytes: "hex digits",
}


# --- conditions, over tables and in memory ----------------------------------------------------------------


def _compared(column: sqlalchemy.Column[Any], condition: Condition) -> sqlalchemy.ColumnElement[bool]:
    value = int(condition.value) if isinstance(condition.value, bool) else condition.value
    match condition.operator:
        case "=":
            return column == value
        case "!=":
            return column.is_distinct_from(value)
        case "<":
            return column < value
        case "<=":
            return column <= value
        case ">":
            return column > value
        case ">=":
            return column >= value
        case _:
            return column.like(_like(str(value)), escape="\\")


def _like(pattern: str) -> str:
    plain = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return plain.replace("*", "%").replace("?", "_")


def _holds(row: Any, condition: Condition) -> bool:
    found, value = getattr(row, condition.field), condition.value
    match condition.operator:
        case "=":
            return bool(found == value)
        case "!=":
            return bool(found != value)
        case "~":
            return found is not None and fnmatchcase(_lower(found), _lower(str(value).replace("[", "[[]")))
    if found is None:
        return False
    match condition.operator:
        case "<":
            return bool(found < value)
        case "<=":
            return bool(found <= value)
        case ">":
            return bool(found > value)
        case _:
            return bool(found >= value)


def _lower(text: str) -> str:
    """Fold the letters that SQLite's LIKE folds: those of ASCII alone."""
    return "".join(each.lower() if each.isascii() else each for each in text)


def _ordered(value: Any) -> tuple[bool, Any]:
    return (value is not None, value)
