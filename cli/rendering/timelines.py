"""A run's timeline: one bar for each visit, on one scale; the fill tells queued, running and waiting apart."""

from datetime import datetime
from typing import cast

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import BUSY, HELD, QUIET, sign
from runwright.cli.rendering.text import clean, span
from runwright.eventstore.values import Json, JsonObject

_FILL = {"queued": ("░", QUIET), "running": ("█", BUSY), "waiting": ("▒", HELD)}
#: The newest visits that are drawn; `--json` has them all.
_MOST = 60
#: Microseconds between two nodes that nobody needs to see.
_NO_TIME = 50_000


class TimelineChart:
    """Draws the timeline of a run view.

    Args:
        timeline: The document's ``timeline``.
        now: UTC microseconds; where an open span ends.
        word: What the run is shown as; its open visit is the same.
    """

    def __init__(self, timeline: JsonObject, now: int, word: str = "running") -> None:
        self._word = word
        self._visits = [each for each in cast("list[JsonObject]", timeline["visits"]) if _says_something(each, now)]
        self._dropped = cast(int, timeline["dropped"]) + max(len(self._visits) - _MOST, 0)
        self._now = now

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a table as wide as there is room."""
        visits = self._visits[-_MOST:]
        spans = [spans_of(each, self._now) for each in visits]
        begin = min((first for each in spans for _, first, _ in each), default=0)
        end = max((last for each in spans for _, _, last in each), default=begin)
        names = [_name(each) for each in visits]
        width = max(10, min(48, options.max_width - max((len(each) for each in names), default=0) - 22))
        table = Table.grid(padding=(0, 1))
        for _ in range(5):
            table.add_column(no_wrap=True)
        table.columns[4].justify = "right"
        for visit, name, own in zip(visits, names, spans, strict=True):
            table.add_row(
                " ",
                _sign(visit, self._word),
                Text(name),
                bar(own, begin, end, width),
                Text(span(_own_time(visit, own)), style=QUIET),
            )
        if self._dropped:
            yield Text(f"  {self._dropped} older visits are not drawn", style=QUIET)
        yield table
        yield Text.assemble(
            "  ", *(part for word, (fill, style) in _FILL.items() for part in ((fill, style), (f" {word}  ", QUIET)))
        )


def _own_time(visit: JsonObject, spans: list[tuple[str, int, int]]) -> int:
    """How long a node took by itself: its turn had not come while it was queued."""
    return sum(last - first for phase, first, last in spans if phase != "queued" or visit["node"] is None)


def _says_something(visit: JsonObject, now: int) -> bool:
    """Whether time passed: what lies between two nodes is mostly no time at all."""
    return visit["node"] is not None or sum(last - first for _, first, last in spans_of(visit, now)) >= _NO_TIME


def spans_of(visit: JsonObject, now: int) -> list[tuple[str, int, int]]:
    """The spans of a visit: phase, begin and end in UTC microseconds."""
    return [
        (str(each["phase"]), microseconds(each["from"]) or now, microseconds(each["to"]) or now)
        for each in cast("list[JsonObject]", visit["spans"])
    ]


def bar(spans: list[tuple[str, int, int]], begin: int, end: int, width: int) -> Text:
    """Spans as a bar on the scale from ``begin`` to ``end``; what took any time is at least one cell wide."""
    cells: list[tuple[str, str]] = [(" ", "")] * width
    scale = (end - begin) or 1
    for phase, first, last in spans:
        left = min((first - begin) * width // scale, width - 1)
        right = max(left + 1, min(-(-(last - begin) * width // scale), width))
        for cell in range(left, right):
            if cells[cell][0] != "█":
                cells[cell] = _FILL.get(phase, ("·", QUIET))
    return Text.assemble(*cells)


def microseconds(text: Json) -> int | None:
    """A time of a document in UTC microseconds."""
    return None if text is None else round(datetime.fromisoformat(str(text)).timestamp() * 1_000_000)


def _name(visit: JsonObject) -> str:
    if visit["node"] is None:
        return "(between nodes)"
    return clean(str(visit["node"])) + (f" #{visit['visit']}" if visit["visit"] != 1 else "")


def _sign(visit: JsonObject, word: str) -> Text:
    attempts = cast("list[JsonObject]", visit["attempts"])
    outcome = attempts[-1]["outcome"] if attempts else None
    if outcome:
        return sign(str(outcome))
    return sign(word)
