"""A run's graph as `show` prints it: each place with how it stands, and below it where it leads."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.elision import Stretch, by_importance, elide
from runwright.cli.rendering.marks import QUIET, sign, style_of
from runwright.cli.rendering.pictures import RunPicture, Standing
from runwright.cli.rendering.reasons import answered_words
from runwright.cli.rendering.shapes import Place
from runwright.cli.rendering.standings import focus_of, rank_of, stretch_line
from runwright.cli.rendering.text import clean

#: Places that are drawn; of a larger graph the others are counted, and `--json` has them.
_MOST = 60


def graph_screen(picture: RunPicture) -> RenderableType:
    """The places in the order in which a run comes to them, each with where it leads."""
    standings, grid = picture.standings, Table.grid(padding=(0, 1))
    for _ in range(2):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for each in elide(len(standings), by_importance(standings, rank_of, focus_of(standings)), _MOST):
        if isinstance(each, Stretch):
            grid.add_row(" ", "", stretch_line(standings[each.begin : each.end]))
            continue
        _add(grid, standings[each], picture.shape.entry)
    return grid


def _add(grid: Table, standing: Standing, entry: str | None) -> None:
    place = standing.place
    indent = "  " * place.depth
    head = Text.assemble(indent, (clean(place.path), "bold"), ("  " + clean(_words(standing)), QUIET))
    if place.path == entry:
        head.append("  begins here", style=QUIET)
    mark = Text("○", style=QUIET) if standing.state == "idle" else sign(standing.state)
    grid.add_row(" ", mark, head.append_text(_mount(standing) if place.mount else _node(standing)))
    if place.ways:
        grid.add_row("", "", Text(indent + "  " + clean("   ".join(_ways(place))), style=QUIET))


def _words(standing: Standing) -> str:
    place = standing.place
    kind = place.kind or (standing.visit.kind if standing.visit is not None else "")
    return kind if place.name == place.path.rpartition("/")[2] else f"{kind}  {place.name}"


def _ways(place: Place) -> Sequence[str]:
    return [f"{way.when} → {way.to}" if way.when else f"→ {way.to}" for way in place.ways]


def _mount(standing: Standing) -> Text:
    text, entered = Text(""), standing.entered
    if entered is None:
        return text
    if entered.exit:
        text.append(f"  left by [{entered.exit}]", style=QUIET)
    elif entered.outcome:
        text.append(f"  {entered.outcome.replace('_', ' ')} ({entered.code})", style=style_of(entered.outcome))
    if entered.invocation > 1:
        text.append(f"  {entered.invocation} entries", style=QUIET)
    return text


def _node(standing: Standing) -> Text:
    visit = standing.visit
    if visit is None:
        return Text("")
    words = "" if standing.state == "completed" else f"  {standing.state.replace('_', ' ')}"
    text = Text(words, style=style_of(standing.state))
    if visit.code:
        text.append(f" ({visit.code})")
    if answered := answered_words(standing.answered_by):
        text.append(f"  {answered}", style=QUIET)
    if visit.visits > 1:
        text.append(f"  {visit.visits} visits", style=QUIET)
    if visit.attempt > 1:
        text.append(f"  attempt {visit.attempt}", style=QUIET)
    return text
