"""One run on one screen, as it stands at this moment: who it is, its graph, and what it said last."""

from rich.text import Text

from runwright.cli.rendering.marks import HELD, QUIET, mark, style_of
from runwright.cli.rendering.pictures import RunPicture
from runwright.cli.rendering.reasons import shown_word, why
from runwright.cli.rendering.standings import standing_lines
from runwright.cli.rendering.statuses import next_lines, took
from runwright.cli.rendering.text import clean, one_line

#: Notes that are shown where there is room for more than the graph, and the height from which there is.
_NOTES, _ROOMY = 3, 16


def live_lines(picture: RunPicture, now: int, *, width: int, height: int, note: str = "") -> list[Text]:
    """Draw a run in no more lines and columns than there are.

    Args:
        picture: The run.
        now: UTC in microseconds.
        width: How many columns there are.
        height: How many lines there are.
        note: What the command that shows it has to say.
    """
    head, foot = head_lines(picture, now), [Text(f"  │ {clean(each)}", style=QUIET) for each in picture.notes[-_NOTES:]]
    if height < _ROOMY:
        foot = []
    if note:
        foot.append(Text(f"  {clean(note)}", style=HELD))
    if height >= _ROOMY:
        head.append(Text())
        foot = [Text(), *foot] if foot else []
    graph = standing_lines(picture, now, width=width, room=height - len(head) - len(foot))
    lines = [*head, *graph, *foot]
    for each in lines:
        each.no_wrap, each.overflow = True, "ellipsis"
        each.truncate(width, overflow="ellipsis")
    return lines


def head_lines(picture: RunPicture, now: int) -> list[Text]:
    """Which run it is, how it stands, why, and what to type."""
    status = picture.status
    word = shown_word(status)
    steps = f"{status.steps.used:,} steps" if status.ended else f"step {status.steps.used:,}"
    facts = f"  {status.run_id}  {steps}  {took(status, now)}"
    lines = [Text.assemble(mark(word), "  ", (clean(status.workflow), "bold"), (facts, QUIET))]
    if reason := why(status, now):
        lines.append(Text(f"  {one_line(reason, 400)}", style=style_of(word)))
    if status.run_status != "completed":
        lines += [each for each in next_lines(status.next[:1]) if isinstance(each, Text)]
    return lines
