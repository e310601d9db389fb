"""Many rows in few steps: none lost, none twice, each one checked."""

from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy.dialects import sqlite

from runwright.eventstore import database
from runwright.eventstore.database import Statement, execute
from runwright.eventstore.errors import WriteRefused
from runwright.eventstore.inserting import insert_many
from runwright.eventstore.log import EventLog
from runwright.eventstore.table import head


@pytest.mark.parametrize("number", [0, 1, 3, 4, 5, 20, 63, 64, 151])
def test_many_rows_are_inserted_in_order_in_few_steps(tmp_path: Path, number: int) -> None:
    """However many there are, each is inserted once, and an upsert takes the place of what is there."""
    numbers = sqlalchemy.Table(
        "numbers",
        sqlalchemy.MetaData(),
        sqlalchemy.Column("number", sqlalchemy.Integer, primary_key=True),
        sqlalchemy.Column("text", sqlalchemy.Text),
    )
    upsert = sqlite.insert(numbers)
    statement = Statement.of(
        upsert.on_conflict_do_update(index_elements=["number"], set_={"text": upsert.excluded.text})
    )
    (tmp_path / "numbers.sqlite").touch()
    steps: list[str] = []
    with closing(database.connect_writer(tmp_path / "numbers.sqlite")) as connection:
        execute(connection, Statement("CREATE TABLE numbers (number INTEGER PRIMARY KEY, text TEXT)"))
        insert_many(connection, statement, [(3, "before")])
        database.driver(connection).set_trace_callback(steps.append)
        insert_many(connection, statement, [(each, str(each)) for each in range(number)])
        database.driver(connection).set_trace_callback(None)
        found = execute(connection, Statement("SELECT number, text FROM numbers ORDER BY number"))
    expected = [(each, str(each)) for each in range(number)]
    assert found == (expected if number > 3 else [*expected, (3, "before")])
    assert len(steps) <= 11


def test_a_row_that_is_refused_is_refused_among_many(log: EventLog) -> None:
    """A constraint holds for each row of a step, and says so in our words."""
    statement = Statement.of(sqlalchemy.insert(head))
    with (
        closing(database.connect_writer(log.home.log)) as connection,
        pytest.raises(WriteRefused),
    ):
        insert_many(connection, statement, [(1, 1, bytes(32))] * 20)
