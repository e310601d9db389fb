"""What a run tells people, as they see it: a line for each notification, and its text whole where that is asked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import HELD, QUIET
from runwright.cli.rendering.text import clean, local_time, one_line, plural

if TYPE_CHECKING:
    from runwright.projections.views.notices import Notice, Notices

#: Stands before what a run tells.
TOLD: Final = "»"
#: What stands in the place of a text that is gone.
ERASED: Final = "(erased)"

#: The newest notifications that `show` has, the characters of each, and of the name beside it.
_MOST, _CUT, _NAME = 10, 240, 36


def notice_line(notice: "Notice", run: str = "") -> Text:
    """One notification on one line, for a screen that goes on; it begins with the run where there are several."""
    line = Text.assemble("  ", (run, QUIET), (f"{TOLD} ", HELD), clean(notice.path), "  ", _text(notice, _CUT))
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def notices_screen(notices: "Notices", now: int) -> list[RenderableType]:
    """The newest notifications of a run, each with its time and node, and how many more there are."""
    shown: Sequence[Notice] = notices.kept[-_MOST:]
    if not shown:
        return []
    table = Table.grid(padding=(0, 2))
    table.add_column(style=QUIET, no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=_NAME)
    table.add_column(overflow="fold")
    for each in shown:
        table.add_row(f"  {local_time(each.at, now)}", Text(clean(each.path)), _text(each, _CUT))
    parts: list[RenderableType] = ["", Text("Notifications", style="bold"), table]
    if older := notices.count - len(shown):
        parts.insert(2, Text(f"  {plural(older, 'older one')} (--json)", style=QUIET))
    return parts


def _text(notice: "Notice", limit: int) -> Text:
    return Text(ERASED, style=QUIET) if notice.text is None else Text(one_line(notice.text, limit))
