"""Reading a view as of now, whoever writes its file: the file as it stands, and the events past its cursor."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import sqlalchemy

from runwright.eventstore import database
from runwright.eventstore.database import Statement, execute
from runwright.eventstore.errors import EventUnreadable, StoreError
from runwright.eventstore.home import check_file
from runwright.eventstore.reader import LogReader
from runwright.projections.errors import ViewFailed
from runwright.projections.inline import ControlRows
from runwright.projections.projection import Key, Projection
from runwright.projections.query import Page, Query, query_rows, query_table
from runwright.projections.rows import MemoryRows
from runwright.projections.statements import statements_of
from runwright.projections.views.store import cursor_of, view_failed

RowT = TypeVar("RowT")


def view_page(log: LogReader, query: Query) -> tuple[Page, int]:
    """Answer a page of a view, and the position that it stands at.

    Raises:
        ViewFailed: The view cannot follow the log.
    """
    projection = query.projection
    last = log.head().position
    with _file(log, projection) as (connection, cursor):
        if connection is None:
            return query_rows(_folded(log, projection, last).values(), query), last
        changed = _since(log, projection, connection, cursor, last)
        if not changed:
            return query_table(connection, query), last
        return query_rows(_merged(connection, projection, changed).values(), query), last


@contextmanager
def _file(log: LogReader, projection: Projection[Any]) -> Iterator[tuple[sqlalchemy.Connection | None, int]]:
    """Lend one moment of the views' file; no connection where it has no such view, or cannot be read."""
    path = log.home.views
    connection: sqlalchemy.Connection | None = None
    cursor: int | None = None
    if path.exists():
        check_file(path)
        try:
            connection = database.connect_reader(path)
            execute(connection, Statement("BEGIN"))
            cursor = cursor_of(connection, projection, log.log_id)
        except StoreError:
            cursor = None  # half made, or damaged: its holder fills it again, and the log says the same
    try:
        if connection is None or cursor is None:
            yield None, 0
        else:
            yield connection, cursor
    finally:
        if connection is not None:
            connection.close()


def _folded(log: LogReader, projection: Projection[RowT], last: int) -> dict[Key, RowT]:
    rows = MemoryRows((projection,))
    _fold(log, projection, rows, 0, last)
    return dict(rows.table(projection))


def _since(
    log: LogReader, projection: Projection[RowT], connection: sqlalchemy.Connection, cursor: int, last: int
) -> dict[Key, RowT | None]:
    rows = ControlRows((projection,))
    rows.attach(connection)
    _fold(log, projection, rows, cursor, last)
    return rows.changed(projection)


def _fold(log: LogReader, projection: Projection[Any], rows: MemoryRows | ControlRows, after: int, last: int) -> None:
    try:
        for batch in log.facts(after=after, upto=last):
            for recorded in batch:
                try:
                    rows.apply(recorded)
                except StoreError:
                    raise
                except Exception as error:  # noqa: BLE001 - a user's projection may raise anything
                    raise view_failed(projection, recorded, error) from None
    except EventUnreadable as error:
        raise ViewFailed(projection.name, error.position, error.type, error.problem) from None


def _merged(
    connection: sqlalchemy.Connection, projection: Projection[RowT], changed: dict[Key, RowT | None]
) -> dict[Key, RowT]:
    statements = statements_of(projection)
    loaded = (statements.load(each) for each in execute(connection, statements.everything))
    found: dict[Key, RowT] = {projection.row_key(row): row for row in loaded}
    for key, row in changed.items():
        if row is None:
            found.pop(key, None)
        else:
            found[key] = row
    return found
