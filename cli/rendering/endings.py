"""How a driven run stands at the end, in a few lines on stderr."""

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from runwright.cli.rendering.marks import QUIET, mark, style_of
from runwright.cli.rendering.statuses import next_lines, took, why
from runwright.cli.rendering.text import clean

if TYPE_CHECKING:
    from runwright.engine.reading.status import Status


def ending_lines(status: "Status", now: int) -> list[RenderableType]:
    """The status with its reason, and what to type where it is not over, or ended badly."""
    lines: list[RenderableType] = [
        Text.assemble(
            mark(status.status), f" after {took(status, now)}", (f"  {clean(status.workflow)} {status.run_id}", QUIET)
        )
    ]
    if reason := why(status):
        lines.append(Text(f"  {clean(reason)}", style=style_of(status.status)))
    if status.run_status != "completed":
        lines += next_lines(status.next)
    return lines
