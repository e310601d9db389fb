"""Rows in tables, read on a connection."""

from collections.abc import Sequence
from typing import Any, TypeVar

import sqlalchemy

from runwright.eventstore.database import Row, Statement, execute
from runwright.projections.projection import Projection, Scalar
from runwright.projections.statements import statements_of

RowT = TypeVar("RowT")


class SqlRows:
    """The rows of any projection whose table the connection sees.

    Args:
        connection: A reader's or the writer's connection.
    """

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self._connection = connection

    def get(self, projection: Projection[RowT], *key: str | int) -> RowT | None:
        """Answer the row under a key, or ``None``."""
        statements = statements_of(projection)
        found = self._rows(statements.select, key)
        row: RowT | None = statements.load(found[0]) if found else None
        return row

    def find(self, projection: Projection[RowT], **equals: Scalar) -> list[RowT]:
        """Answer the rows with these values, in the order of their keys."""
        statements = statements_of(projection)
        statement, values = statements.find(equals)
        return [statements.load(each) for each in self._rows(statement, values)]

    def first(self, projection: Projection[RowT], by: str, most: int, /, **equals: Scalar) -> list[RowT]:
        """Answer the first rows with these values in the order of a column, however many there are."""
        statements = statements_of(projection)
        statement, values = statements.first(by, most, equals)
        return [statements.load(each) for each in self._rows(statement, values)]

    def count(self, projection: Projection[Any], most: int, /, **equals: Scalar) -> int:
        """Answer how many rows have these values; where there are more than ``most``, that many."""
        statement, values = statements_of(projection).count(most, equals)
        found = self._rows(statement, values)
        return int(found[0][0]) if found else 0

    def _rows(self, statement: Statement, values: Row) -> Sequence[Row]:
        try:
            return execute(self._connection, statement, values)
        except UnicodeEncodeError:
            return ()  # half of a character pair, which no table can hold: no row has such a value
