"""Runs as people see them: one run's facts, the table, and what runs, waits or is stuck."""

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import QUIET, style_of
from runwright.cli.rendering.reasons import deadline_of, is_interrupted, is_overdue, shown_word, time_words, why
from runwright.cli.rendering.run_lines import line_of, place_of, short_id, span_of, standing_of, us
from runwright.cli.rendering.tables import plain_table
from runwright.cli.rendering.text import ago, clean, one_line, plural, span

if TYPE_CHECKING:
    from runwright.engine.reading.status import Status

#: The same for effects where a line to type names one.
EFFECT = 12
#: Groups of the overview whose runs need somebody.
_STILL = frozenset({"Waits for you", "Interrupted", "Stuck"})
_LONG_ID = re.compile(r"\b[0-9a-f]{64}\b")


def _short_name(match: re.Match[str]) -> str:
    return match[0][-EFFECT:]


def took(status: "Status", now: int) -> str:
    """How long a run took, or has taken so far, from when it started; a dash where it never did."""
    return span_of(status.started_at, status.finished_at, now)


def where(status: "Status") -> str:
    """The node a run is at, with its visit and attempt where they are not the first."""
    return place_of(status.node, status.visit, status.attempt)


def runs_table(statuses: Iterable["Status"], now: int) -> Table:
    """The table of runs."""
    rows = [
        (
            Text(short_id(each.run_id), style="bold"),
            each.workflow,
            _standing(each, below=True),
            where(each),
            ago(us(each.created_at), now),
            took(each, now),
        )
        for each in statuses
    ]
    headings = ("run", "workflow", "status", "node", "queued", "took")
    return plain_table(headings, rows, whole=("run", "status", "queued", "took"), right=("took",))


def _standing(status: "Status", *, below: bool = False) -> Text:
    return standing_of(status.document(), shown_word(status), below=below)


def runs_line(status: "Status", now: int) -> Text:
    """One run on one line, for a list that goes on."""
    return line_of(status.document(), now, word=shown_word(status))


def run_facts(status: "Status", now: int) -> list[RenderableType]:
    """One run's facts: a heading, a few lines, and what to type next."""
    heading = Text.assemble(_standing(status), "  ", (clean(status.workflow), "bold"), "  ", (status.run_id, QUIET))
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style=QUIET, no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in _facts(status, now):
        facts.add_row(name, Text(clean(value)))
    parts: list[RenderableType] = [heading, Padding(facts, (0, 0, 0, 2))]
    if lines := to_type(status, now):
        parts += [Text("  next", style=QUIET), *next_lines(lines)]
    return parts


def _facts(status: "Status", now: int) -> list[tuple[str, str]]:
    ended = status.finished_at
    facts = [
        ("node", where(status)),
        ("steps", f"{status.steps.used:,} of at most {status.steps.max:,}"),
        ("queued", ago(us(status.created_at), now)),
    ]
    if ended is not None:
        facts.append(("ended", ago(us(ended), now)))
    if status.started_at is not None:
        facts.append(("took" if ended else "so far", took(status, now)))
    if reason := why(status, now):
        rests = status.reason is not None and status.status != "waiting"
        since = f" (for {span(now - us(status.reason.since))})" if rests and status.reason is not None else ""
        facts.insert(0, ("why", reason + since))
    if status.effects.ambiguous:
        facts.append(("effects", f"{plural(status.effects.ambiguous, 'effect')} nobody is sure of"))
    facts += _descent(status)
    if status.continued_by:
        facts.append(("continued by", status.continued_by))
    if status.session is not None:
        facts.append(("session", status.session))
    return facts


def _descent(status: "Status") -> list[tuple[str, str]]:
    """What a run restarts, or carries on behind an answer; in a chain of restarts also how many, and since which."""
    if status.parent_run_id is None:
        return []
    words = status.parent_run_id + (f" at {status.began_at}" if status.began_at is not None else "")
    if status.restart_number and status.parent_run_id != status.root_run_id:
        words += f", restart number {status.restart_number} of {status.root_run_id}"
    return [("continues" if status.continues else "restarts", words)]


def to_type(status: "Status", now: int) -> list[str]:
    """What to type next: what carries the run on, or shows why it ended badly.

    Args:
        status: The run.
        now: UTC in microseconds.
    """
    lines = [] if status.run_status == "completed" else list(status.next)
    if is_overdue(status, now):
        lines.insert(0, "runwright host start")
    if status.error is not None and status.node is not None:
        lines.insert(0, f"runwright show {status.run_id} {shlex.quote(status.node)}")
    return lines


def next_lines(lines: Sequence[str]) -> list[RenderableType]:
    """Lines to type, each whole so that it can be copied; an effect is named by the end of its ID."""
    return [
        Text(f"    {_LONG_ID.sub(_short_name, clean(line))}", style="bold", no_wrap=True, overflow="ignore")
        for line in lines
    ]


def overview(statuses: Sequence["Status"], now: int, *, ended: Sequence["Status"]) -> list[RenderableType]:
    """What runs, what waits for you, what is stuck, each with the line to type.

    Args:
        statuses: The live runs, newest first.
        now: UTC in microseconds.
        ended: The runs that ended last.
    """
    groups: dict[str, list[Status]] = {}
    for each in statuses:
        groups.setdefault(group_of(each), []).append(each)
    parts: list[RenderableType] = []
    for title in ("Waits for you", "Interrupted", "Stuck", "Runs", "Waits", "Queued"):
        for number, each in enumerate(groups.get(title, ())):
            if number == 0:
                parts.append(Text(title, style="bold"))
            parts.extend(entry(each, now))
    if not parts:
        parts.append(Text("Nothing runs."))
    if ended:
        parts.append(Text("Ended lately", style="bold"))
        parts += [_line(each, us(each.finished_at or each.created_at), now) for each in ended]
    return parts


def group_of(status: "Status") -> str:
    """The group of the overview that a live run belongs to."""
    # A question with no line to type is its agent's or its session's, and nobody else can do anything about it.
    if status.status in ("ambiguous", "paused") or (status.requests and status.next):
        return "Waits for you"
    if is_interrupted(status):
        return "Interrupted"
    if status.status == "running":
        return "Runs"
    if status.status == "waiting":
        return "Waits"
    if status.status == "queued":
        return "Queued" if status.reason is None else "Stuck"
    return "Stuck"


def stuck_lines(statuses: Sequence["Status"], now: int) -> list[RenderableType]:
    """Below a table, which has no room for it: that runs in it stand still until somebody does something, and what."""
    stuck = [each for each in statuses if not each.ended and each.next and group_of(each) in _STILL]
    if not stuck:
        return []
    if len(stuck) == 1:
        until = None if is_overdue(stuck[0], now) else deadline_of(stuck[0])
        how = (
            "stands still until you type" if until is None else f"goes on at {time_words(until, now)}, or when you type"
        )
        return [Text(f"{short_id(stuck[0].run_id)} {how}:"), *next_lines(to_type(stuck[0], now)[:1])]
    return [
        Text(f"{len(stuck)} of them stand still until you do something{_or_deadline(stuck)}. This says what:"),
        *next_lines(["runwright status"]),
    ]


def _or_deadline(stuck: Sequence["Status"]) -> str:
    return ", or a deadline passes" if any(deadline_of(each) is not None for each in stuck) else ""


def entry(status: "Status", now: int) -> list[RenderableType]:
    """One live run on a line, why it stands still, and what to type."""
    parts: list[RenderableType] = [_line(status, us(status.created_at), now)]
    if reason := why(status, now):
        parts.append(Padding(Text(one_line(reason, 300), style=style_of(shown_word(status))), (0, 0, 0, 4)))
    return parts + next_lines(to_type(status, now)[:1])


def _line(status: "Status", at: int, now: int) -> Text:
    """One run of the overview on one line."""
    return Text.assemble(
        "  ",
        _standing(status),
        "  ",
        (short_id(status.run_id), "bold"),
        "  ",
        clean(status.workflow),
        ("  at " + clean(where(status)) if status.node and not status.ended else "", ""),
        ("  " + ago(at, now), QUIET),
    )
