"""One run on one screen, as it stands at this moment: who it is, its graph, and what it said last."""

from rich.text import Text

from runwright.cli.rendering.marks import HELD, QUIET, style_of
from runwright.cli.rendering.notices import notice_line
from runwright.cli.rendering.pictures import RunPicture
from runwright.cli.rendering.reasons import shown_word, why
from runwright.cli.rendering.run_lines import standing_of
from runwright.cli.rendering.standings import standing_lines
from runwright.cli.rendering.statuses import next_lines, took
from runwright.cli.rendering.text import clean, one_line

#: Notes that are shown where there is room for more than the graph, the height from which there is, and from which
#: there is room for one.
NOTES, _ROOMY, _LOW = 3, 16, 8


def live_lines(picture: RunPicture, now: int, *, width: int, height: int, note: str = "", told: int = 0) -> list[Text]:
    """Draw a run in no more lines and columns than there are.

    Args:
        picture: The run.
        now: UTC in microseconds.
        width: How many columns there are.
        height: How many lines there are.
        note: What the command that shows it has to say.
        told: How many of its notifications stand on the screen already.
    """
    head, foot = head_lines(picture, now), foot_lines(picture, height, told)
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


def foot_lines(picture: RunPicture, height: int, after: int = 0) -> list[Text]:
    """What the run said last: progress of its parts where there is room, and below it what it told people."""
    told = told_lines(picture, NOTES if height >= _ROOMY else 1 if height >= _LOW else 0, after=after)
    room = NOTES - len(told) if height >= _ROOMY else 0
    return [*(Text(f"  │ {clean(each)}", style=QUIET) for each in picture.notes[-room:] if room), *told]


def told_lines(picture: RunPicture, most: int = NOTES, *, after: int = 0) -> list[Text]:
    """The newest notifications, the newest last, without as many of the first ones as stand elsewhere."""
    most = min(most, picture.notices.count - after)
    return [notice_line(each) for each in picture.notices.kept[-most:] if most]


def head_lines(picture: RunPicture, now: int) -> list[Text]:
    """Which run it is, how it stands, why, and what to type."""
    status = picture.status
    word = shown_word(status)
    steps = f"{status.steps.used:,} steps" if status.ended else f"step {status.steps.used:,}"
    facts = f"  {status.run_id}  {steps}  {took(status, now)}"
    lines = [
        Text.assemble(standing_of(status.document(), word), "  ", (clean(status.workflow), "bold"), (facts, QUIET))
    ]
    if reason := why(status, now):
        lines.append(Text(f"  {one_line(reason, 400)}", style=style_of(word)))
    if status.run_status != "completed":
        lines += [each for each in next_lines(status.next[:1]) if isinstance(each, Text)]
    return lines
