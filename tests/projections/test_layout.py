"""The layout of the control tables."""

import sqlite3

from runwright.eventstore.table import EVENTS_LAYOUT
from runwright.projections.control.registry import CONTROL
from runwright.projections.layout import CONTROL_LAYOUT, LAYOUT, control_metadata
from runwright.projections.tables import ddl


def test_the_checked_in_text_is_what_the_metadata_compiles_to() -> None:
    """Neither the text nor the row classes can change alone."""
    assert CONTROL_LAYOUT.statements == ddl(control_metadata().tables.values())


def test_the_layout_is_the_log_and_the_control_tables() -> None:
    """A store has the log's own tables and every control projection."""
    assert LAYOUT.statements == EVENTS_LAYOUT.statements + CONTROL_LAYOUT.statements
    assert [each.name for each in CONTROL] == list(control_metadata().tables)


def test_the_text_makes_strict_tables() -> None:
    """SQLite takes the text as it stands, and the tables hold only what their columns declare."""
    connection = sqlite3.connect(":memory:")
    for statement in CONTROL_LAYOUT.statements:
        connection.execute(statement)
    strict = dict(connection.execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").fetchall())
    connection.close()
    assert all(strict[each.name] for each in CONTROL)


def test_constraints_stand_behind_the_guards() -> None:
    """What only one row may hold is a unique index, too."""
    uniques = {each for each in CONTROL_LAYOUT.statements if each.startswith("CREATE UNIQUE INDEX")}
    assert len(uniques) == sum(len(each.guards) for each in CONTROL)
    assert "CREATE UNIQUE INDEX reservations_session ON reservations (session)" in uniques
    assert "CREATE UNIQUE INDEX visits_run_id ON visits (run_id) WHERE open = 1" in uniques
