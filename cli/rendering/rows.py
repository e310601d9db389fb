"""Rows of any projection: side by side where they fit, else one row after another; what is empty is left out."""

import json
import re
import time
from collections.abc import Collection, Sequence
from datetime import datetime

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import QUIET
from runwright.cli.rendering.tables import plain_table
from runwright.cli.rendering.text import clean, local_time, one_line
from runwright.eventstore.values import Json, JsonObject

#: The room that a column's padding takes.
_BETWEEN = 3
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class RowsTable:
    """Shows rows as wide as there is room.

    Args:
        rows: Rows with equal fields.
        leave_out: Fields that say nothing new.
    """

    def __init__(self, rows: Sequence[JsonObject], *, leave_out: Collection[str] = ()) -> None:
        self._rows = rows
        first = rows[0] if rows else {}
        self._fields = [name for name in first if name not in leave_out and any(row[name] is not None for row in rows)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a table, or one grid for all rows."""
        cells = [[cell(row[name]) for name in self._fields] for row in self._rows]
        widths = [
            max(map(len, (name, *column))) for name, column in zip(self._fields, zip(*cells, strict=True), strict=True)
        ]
        if sum(widths) + _BETWEEN * len(widths) <= options.max_width:
            yield plain_table(self._fields, cells)
            return
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style=QUIET, no_wrap=True)
        grid.add_column(overflow="fold")
        for number, row in enumerate(self._rows):
            if number:
                grid.add_row("", "")
            for name in self._fields:
                if row[name] is not None:
                    grid.add_row(clean(name), Text(cell(row[name])))
        yield grid


def cell(value: Json) -> str:
    """One value of a row as text; times on the reader's own clock."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and _TIME.fullmatch(value):
        us = round(datetime.fromisoformat(value).timestamp() * 1_000_000)
        return local_time(us, time.time_ns() // 1000)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text, 400)
