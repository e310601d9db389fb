"""Rows of any projection as a table: as many columns as fit, and what is empty everywhere left out."""

import json
from collections.abc import Collection, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import QUIET
from runwright.cli.rendering.tables import plain_table
from runwright.cli.rendering.text import clean, one_line
from runwright.eventstore.values import Json, JsonObject

#: Up to so many columns stand side by side; what is wider is shown row by row.
_COLUMNS = 7


def rows_table(rows: Sequence[JsonObject], *, leave_out: Collection[str] = ()) -> RenderableType:
    """Show rows: as a table where the columns are few, else row by row.

    Args:
        rows: Rows with equal fields.
        leave_out: Fields that say nothing new.
    """
    fields = [
        name
        for name in (rows[0] if rows else ())
        if name not in leave_out and any(row[name] is not None for row in rows)
    ]
    if len(fields) <= _COLUMNS:
        return plain_table(fields, [[cell(row[name]) for name in fields] for row in rows])
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style=QUIET, no_wrap=True)
    grid.add_column(overflow="fold")
    for number, row in enumerate(rows):
        if number:
            grid.add_row("", "")
        for name in fields:
            if row[name] is not None:
                grid.add_row(clean(name), Text(cell(row[name])))
    return grid


def cell(value: Json) -> str:
    """One value of a row as text."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text, 400)
