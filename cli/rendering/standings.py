"""One line for each place of a graph: its sign, its name, how it stands and how long it took."""

from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from runwright.cli.rendering.elision import Stretch, by_importance, elide
from runwright.cli.rendering.marks import QUIET, sign, style_of
from runwright.cli.rendering.pictures import RunPicture, Standing
from runwright.cli.rendering.reasons import answered_words
from runwright.cli.rendering.text import clean, plural, span

_BAD = frozenset({"failed", "timed_out", "cancelled", "ambiguous"})
#: The widest that names and kinds get, and the room of what a place took.
_NAMES, _KINDS, _TIMES = 36, 12, 13
#: Columns below which there is no room for how long something took.
_NARROW = 40


def standing_lines(picture: RunPicture, now: int, *, width: int, room: int) -> list[Text]:
    """Draw the graph in so many lines and columns.

    Args:
        picture: The run.
        now: UTC in microseconds.
        width: How many columns there are.
        room: How many lines there are; stretches of a longer graph are counted instead.
    """
    standings = picture.standings
    chosen = elide(len(standings), by_importance(standings, rank_of, focus_of(standings)), max(room, 1))
    shown = [standings[each] for each in chosen if isinstance(each, int)]
    names = min(max((each.place.depth * 2 + len(each.place.name) for each in shown), default=0), _NAMES, width // 2)
    kinds = min(max((len(each.place.kind) for each in shown if not each.place.mount), default=0), _KINDS)
    lines = []
    for number, each in enumerate(chosen):
        if isinstance(each, Stretch):
            lines.append(stretch_line(standings[each.begin : each.end]))
            continue
        after = _next(standings, each, chosen[number + 1 :])
        lines.append(_line(picture, standings[each], now, width, (names, kinds), after))
    return lines


def _next(standings: Sequence[Standing], row: int, following: Sequence[int | Stretch]) -> str | None:
    """The place that stands on the next line outside of this one, or first in the stretch there."""
    for each in following:
        after = standings[each.begin if isinstance(each, Stretch) else each].place
        if after.depth <= standings[row].place.depth:
            return after.path
    return None


def rank_of(standing: Standing) -> int:
    """What has to be seen first: where the run is, what went wrong, what was done, what was not reached."""
    if standing.current:
        return 0
    if standing.state in _BAD:
        return 1
    return 2


def focus_of(standings: Sequence[Standing]) -> int:
    """The row of the node that the run is at, else of the one that it left last."""
    latest, found = -1, 0
    for row, each in enumerate(standings):
        if each.visit is None:
            continue
        if each.current:
            return row
        at = each.visit.finished_at or each.visit.started_at or 0
        if at >= latest:
            latest, found = at, row
    return found


def stretch_line(standings: Sequence[Standing]) -> Text:
    """What is left out, counted."""
    counts = Counter(_group(each) for each in standings if not each.place.mount)
    words = [f"{counts[group]:,} {group}" for group in ("finished", "failed", "not reached") if counts[group]]
    return Text(f"  ⋮ {', '.join(words) or plural(len(standings), 'mount')}", style=QUIET)


def _group(standing: Standing) -> str:
    if standing.state in _BAD:
        return "failed"
    return "not reached" if standing.state == "idle" else "finished"


def _line(
    picture: RunPicture, standing: Standing, now: int, width: int, columns: tuple[int, int], after: str | None
) -> Text:
    place, (names, kinds) = standing.place, columns
    idle = standing.state == "idle"
    name = Text("  " * place.depth + clean(place.name), style=QUIET if idle else "bold" if standing.current else "")
    name.truncate(names, overflow="ellipsis", pad=True)
    line = Text.assemble("  ", Text("○", style=QUIET) if idle else sign(standing.state), " ", name)
    if not place.mount:
        kind = Text(clean(place.kind), style=QUIET)
        kind.truncate(kinds, overflow="ellipsis", pad=True)
        line.append("  ").append_text(kind)
    took = _took(standing, now) if width >= _NARROW else ""
    line.append_text(_details(picture, standing, now, after))
    room = width - (_TIMES if took else 0)
    line.truncate(room, overflow="ellipsis", pad=bool(took))
    return line.append(took.rjust(_TIMES), style=QUIET) if took else line


def _took(standing: Standing, now: int) -> str:
    if standing.visit is None or standing.visit.started_at is None:
        return ""
    end = now if standing.visit.open else standing.visit.finished_at
    return "" if end is None else span(end - standing.visit.started_at)


def _details(picture: RunPicture, standing: Standing, now: int, after: str | None) -> Text:
    """Where it stands, how often it was there, and where it leads by other ways than to the next line."""
    details = Text()
    for words, style in _facts(picture, standing, now):
        details.append(f"  {clean(words)}", style=style)
    ways = [
        f"{f'{way.when} ' if way.when else ''}{'↺' if way.back else '→'} {way.to}"
        for way in standing.place.ways
        if way.back or way.to != after or (way.when and len(standing.place.ways) > 1)
    ]
    if ways:
        details.append(f"  {clean('  '.join(ways))}", style=QUIET)
    return details


def _facts(picture: RunPicture, standing: Standing, now: int) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    if (entered := standing.entered) is not None or standing.place.mount:
        facts.append((standing.place.kind, QUIET))
        if entered is not None:
            if entered.exit:
                facts.append((f"left by [{entered.exit}]", QUIET))
            elif entered.outcome:
                facts.append((f"{entered.outcome} ({entered.code})", style_of(entered.outcome)))
            facts += [(f"{entered.invocation} entries", QUIET)] if entered.invocation > 1 else []
        return facts
    visit, at = standing.visit, picture.under_way
    if visit is None:
        return facts
    waits = at.waiting_words(now) if standing.place.path == at.node and not picture.status.ended else ""
    word = standing.state.replace("_", " ")
    if standing.state not in ("completed", "running") and not (waits and standing.current):
        failed = not visit.open and visit.code not in (None, f"node_{standing.state}")
        facts.append((f"{word} ({visit.code})" if failed else word, style_of(standing.state)))
    if waits:
        facts.append((waits, style_of("waiting")))
    elif standing.current and at.update and at.node == standing.place.path:
        facts.append((at.update, ""))
    if words := answered_words(standing.answered_by):
        facts.append((words, QUIET))
    if visit.visits > 1:
        facts.append((f"visit {visit.visits:,}" if visit.open else f"{visit.visits:,} visits", QUIET))
    if visit.attempt > 1:
        facts.append((f"attempt {visit.attempt}", QUIET))
    return facts
