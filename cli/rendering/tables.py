"""Tables: quiet lines, cells that never steer the terminal, and IDs that are never cut."""

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.text import one_line

#: What a cell may be: text from data, or a text that is already styled.
Cell = str | Text


def plain_table(
    headings: Sequence[str], rows: Iterable[Sequence[Cell]], *, whole: Iterable[str] = (), right: Iterable[str] = ()
) -> Table:
    """Make a table.

    Args:
        headings: The columns.
        rows: The cells; plain strings are made safe and kept on one line.
        whole: Columns that are never cut or folded.
        right: Columns that stand at the right edge, numbers for one.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 1))
    for heading in headings:
        table.add_column(
            heading,
            no_wrap=heading in whole,
            overflow="ignore" if heading in whole else "fold",
            justify="right" if heading in right else "left",
        )
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(one_line(cell, 2000)) for cell in row))
    return table
