"""A run's graph as people see it: each node with its state, and below it where it leads."""

from collections.abc import Iterable, Sequence
from typing import cast

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import QUIET, sign, style_of
from runwright.cli.rendering.text import clean
from runwright.eventstore.values import JsonObject


def in_flow_order(
    nodes: Sequence[JsonObject], edges: Sequence[tuple[str, str, str]], entry: str | None
) -> list[JsonObject]:
    """Sort nodes as a run comes to them first; the stored definition has them by name."""
    by_path = {str(node["node"]): node for node in nodes}
    following: dict[str, list[str]] = {}
    for source, _, to in edges:
        following.setdefault(source.partition("[")[0], []).append(to)
    ordered: dict[str, JsonObject] = {}
    seen: set[str] = set()
    waiting = [entry] if entry is not None else []
    while waiting:
        place = waiting.pop(0)
        if place in seen:
            continue
        seen.add(place)
        if place in by_path:
            ordered[place] = by_path[place]
        else:  # a mount: its nodes stand where it does
            waiting[:0] = [each for each in by_path if each.startswith(f"{place}/")]
        waiting += following.get(place, [])
    return [*ordered.values(), *(node for path, node in by_path.items() if path not in ordered)]


def graph_screen(
    nodes: Sequence[JsonObject], edges: Iterable[tuple[str, str, str]], entry: str | None
) -> RenderableType:
    """The nodes in the order they were written, each with where it leads.

    Args:
        nodes: The nodes of a run view.
        edges: Every way: source, what it takes to go there (empty: nothing), place.
        entry: The first place.
    """
    ways: dict[str, list[str]] = {}
    for source, when, to in edges:
        ways.setdefault(source, []).append(f"{when} → {to}" if when else f"→ {to}")
    grid = Table.grid(padding=(0, 1))
    for _ in range(2):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for node in nodes:
        path, state = str(node["node"]), str(node["state"])
        head = Text.assemble((clean(path), "bold"), ("  " + clean(str(node["kind"] or "")), QUIET))
        if path == entry:
            head.append("  begins here", style=QUIET)
        grid.add_row(
            " ", Text("○", style=QUIET) if state == "idle" else sign(state), Text.assemble(head, _standing(node))
        )
        own = [
            each for source, found in ways.items() if source == path or source.startswith(f"{path}[") for each in found
        ]
        if own:
            grid.add_row("", "", Text("  " + clean("   ".join(own)), style=QUIET))
    return grid


def _standing(node: JsonObject) -> Text:
    visits = cast(int, node["visits"])
    if not visits:
        return Text("")
    state = str(node["state"])
    words = "" if state == "completed" else f"  {state.replace('_', ' ')}"
    text = Text(words, style=style_of(state))
    if node["code"]:
        text.append(f" ({node['code']})")
    if visits > 1:
        text.append(f"  {visits} visits", style=QUIET)
    attempt = node["attempt"]
    if isinstance(attempt, int) and attempt > 1:
        text.append(f"  attempt {attempt}", style=QUIET)
    return text
