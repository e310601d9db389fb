"""Inserting many rows in few steps: each step of a statement hands the interpreter to another thread and back."""

from collections.abc import Sequence
from functools import cache
from itertools import chain

import sqlalchemy

from runwright.eventstore.database import Row, Statement, execute, execute_many

#: Rows that one step takes in; what is left over goes row by row.
ROWS_AT_ONCE = (64, 16, 4)


def insert_many(connection: sqlalchemy.Connection, statement: Statement, rows: Sequence[Row]) -> None:
    """Execute a compiled insert of one row for many.

    Args:
        connection: The connection.
        statement: Inserts one row, with a parameter for each of its columns.
        rows: The rows; they are inserted in order.

    Raises:
        StoreError: SQLite refused, in our words.
    """
    inserted = 0
    for number in ROWS_AT_ONCE:
        while len(rows) - inserted >= number:
            values = tuple(chain.from_iterable(rows[inserted : inserted + number]))
            execute(connection, _for_rows(statement, number), values)
            inserted += number
    if inserted < len(rows):
        execute_many(connection, statement, rows[inserted:])


@cache
def _for_rows(statement: Statement, number: int) -> Statement:
    """Write an insert of one row out for so many."""
    one = f"({', '.join('?' * len(statement.names))})"
    before, found, after = statement.text.partition(one)
    assert found, "an insert has a parameter for each of its columns"
    return Statement(f"{before}{', '.join([one] * number)}{after}")
