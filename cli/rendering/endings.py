"""How a driven run stands at the end, in a few lines on stderr."""

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from runwright.cli.rendering.marks import QUIET, style_of
from runwright.cli.rendering.reasons import shown_word, why
from runwright.cli.rendering.run_lines import standing_of
from runwright.cli.rendering.statuses import next_lines, to_type, took
from runwright.cli.rendering.text import clean, one_line

if TYPE_CHECKING:
    from runwright.engine.reading.status import Status


def ending_lines(status: "Status", now: int, *, cause: str | None = None) -> list[RenderableType]:
    """The status with its reason, and what to type where it is not over, or ended badly.

    Args:
        status: The run.
        now: UTC in microseconds.
        cause: The error's own text; private, so only for the person who drove the run.
    """
    word = shown_word(status)
    # The time of a run behind an answer is not that of the work, which began in the run before it.
    after = f" after {took(status, now)}" if status.started_at is not None and not status.continues else ""
    standing = standing_of(status.document(), word)
    lines: list[RenderableType] = [
        Text.assemble(standing, after, (f"  {clean(status.workflow)} {status.run_id}", QUIET))
    ]
    if reason := why(status, now):
        lines.append(Text(f"  {clean(reason)}", style=style_of(word)))
    if cause is not None:
        lines += [Text(f"  {one_line(each, 300)}") for each in telling(cause)]
    return lines + next_lines(to_type(status, now))


def queued_lines(workflow: str, run_id: str, session: str | None, *, drive: str | None) -> list[RenderableType]:
    """What a run that was only queued goes on by.

    Args:
        workflow: Its workflow.
        run_id: The run.
        session: The session that it is for.
        drive: The line that has it driven; ``None`` where that is done.
    """
    queued = f"{clean(workflow)} is queued."
    if session is not None:
        return [Text(f"{queued} It begins when session {session} next comes to rest.")]
    if drive is None:
        return [Text(f"{queued} Watch it with: runwright watch {run_id}")]
    return [Text(f"{queued} Drive it with:"), *next_lines([drive])]


def telling(cause: str) -> list[str]:
    """The lines of an error's text that tell most: the first, and the last where that is no mere cause of it."""
    lines = [each for each in cause.splitlines() if each.strip()]
    return lines[:1] if len(lines) < 2 or lines[-1].startswith("caused by ") else [lines[0], lines[-1]]
