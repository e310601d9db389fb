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
from runwright.cli.rendering.run_lines import SHORT
from runwright.cli.rendering.tables import plain_table
from runwright.cli.rendering.text import clean, local_time, one_line, plural
from runwright.eventstore.values import Json, JsonObject

_ID = re.compile(r"[0-9a-f]{64}|0[0-9a-hjkmnp-tv-z]{19}")
#: What people look for first in rows that are too wide; the rest follows in its own order.
_USES = {
    name: place
    for place, name in enumerate(
        (
            "effect", "request", "run_id", "workflow", "path", "node", "state", "status", "outcome", "code",
            "visit", "visits", "attempt", "contract", "applications", "kind", "reason", "since", "message",
            "created_at", "started_at", "finished_at", "due", "steps",
        )
    )
}  # fmt: skip
#: With fewer columns than this, rows are better read one after another.
_FEWEST = 4
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
        short = console.is_terminal and len(self._rows) > 1
        cells = [[_short(cell(row[name])) if short else cell(row[name]) for name in self._fields] for row in self._rows]
        widths = [
            max(map(len, (name, *column))) for name, column in zip(self._fields, zip(*cells, strict=True), strict=True)
        ]
        shown = _fitting(self._fields, widths, options.max_width)
        if len(shown) == len(widths) or (short and len(shown) >= _FEWEST):
            yield plain_table([self._fields[each] for each in shown], [[row[each] for each in shown] for row in cells])
            if left := [name for number, name in enumerate(self._fields) if number not in shown]:
                yield Text(f"{plural(len(left), 'more field')}: {', '.join(left)} (--json, --csv)", style=QUIET)
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


def _fitting(fields: Sequence[str], widths: Sequence[int], room: int) -> list[int]:
    """The columns that fit, in their order; what people look for first."""
    by_use = sorted(range(len(fields)), key=lambda each: _USES.get(fields[each], len(_USES)))
    shown: list[int] = []
    for each in by_use:
        if widths[each] + _BETWEEN <= room:
            shown.append(each)
            room -= widths[each] + _BETWEEN
    return sorted(shown)


def _short(text: str) -> str:
    return text[-SHORT:] if _ID.fullmatch(text) else text


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
