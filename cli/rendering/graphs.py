"""A run's graph as people see it: each node with its state, and below it where it leads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import QUIET, sign, style_of
from runwright.cli.rendering.text import clean
from runwright.eventstore.values import JsonObject


def in_flow_order(
    nodes: Sequence[JsonObject],
    edges: Sequence[tuple[str, str, str]],
    entry: str | None,
    mounts: Mapping[str, str] | None = None,
) -> list[JsonObject]:
    """Sort nodes as a run comes to them first; the stored definition has them by name.

    Args:
        nodes: The nodes of a run view.
        edges: Every way: source, what it takes to go there, place.
        entry: The first place.
        mounts: The first place of each mount, whose nodes stand together.
    """
    by_path = {str(node["node"]): node for node in nodes}
    following: dict[str, list[str]] = {}
    for source, _, to in edges:
        following.setdefault(source.partition("[")[0], []).append(to)
    ordered: dict[str, JsonObject] = {}
    seen: set[str] = set()

    def go_in(place: str) -> None:
        waiting = [place]
        while waiting:
            place = waiting.pop(0)
            if place in seen:
                continue
            seen.add(place)
            if place in by_path:
                ordered[place] = by_path[place]
            elif mounts and place in mounts:
                go_in(mounts[place])
            waiting += following.get(place, [])

    if entry is not None:
        go_in(entry)
    return [*ordered.values(), *(node for path, node in by_path.items() if path not in ordered)]


def graph_screen(
    nodes: Sequence[JsonObject],
    edges: Iterable[tuple[str, str, str]],
    entry: str | None,
    mounts: Mapping[str, JsonObject] | None = None,
) -> RenderableType:
    """The nodes in the order they were written, each with where it leads.

    Args:
        nodes: The nodes of a run view.
        edges: Every way: source, what it takes to go there (empty: nothing), place.
        entry: The first place.
        mounts: Every mount by path: the ``workflow`` in it, and, once it was entered, what a run view says of it.
    """
    ways: dict[str, list[str]] = {}
    for source, when, to in edges:
        place, bracket, rest = source.partition("[")
        words = " ".join([*([f"[{rest}"] if bracket else []), *([when] if when else []), f"→ {to}"])
        ways.setdefault(place, []).append(words)
    grid = Table.grid(padding=(0, 1))
    for _ in range(2):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    left = dict(mounts or {})

    def add(path: str, mark: Text, kind: str, standing: Text) -> None:
        indent = "  " * path.count("/")
        head = Text.assemble(indent, (clean(path), "bold"), ("  " + clean(kind), QUIET))
        if path == entry:
            head.append("  begins here", style=QUIET)
        grid.add_row(" ", mark, Text.assemble(head, standing))
        if path in ways:
            grid.add_row("", "", Text(indent + "  " + clean("   ".join(ways[path])), style=QUIET))

    for node in nodes:
        path, state = str(node["node"]), str(node["state"])
        for around in _around(path):
            if around in left:
                mount = left.pop(around)
                add(around, _mount_sign(mount), f"mounts {mount['workflow']}", _mount_standing(mount))
        mark = Text("○", style=QUIET) if state == "idle" else sign(state)
        add(path, mark, str(node["kind"] or ""), _standing(node))
    return grid


def _around(path: str) -> list[str]:
    """The mounts around a node, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _mount_sign(mount: JsonObject) -> Text:
    if mount.get("inside"):
        return sign("running")
    return sign(str(mount["outcome"])) if mount.get("outcome") else Text("○", style=QUIET)


def _mount_standing(mount: JsonObject) -> Text:
    text = Text("")
    outcome = mount.get("outcome")
    if mount.get("exit"):
        text.append(f"  left by [{mount['exit']}]", style=QUIET)
    elif outcome:
        text.append(f"  {str(outcome).replace('_', ' ')} ({mount['code']})", style=style_of(str(outcome)))
    invocations = mount.get("invocations")
    if isinstance(invocations, int) and invocations > 1:
        text.append(f"  {invocations} entries", style=QUIET)
    return text


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
