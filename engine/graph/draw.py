"""A definition drawn as text or as a mermaid flowchart; plain strings, coloured by whoever prints them."""

import json
from collections.abc import Iterator

from runwright.engine.graph.definition import CaseValue, Definition, NodeSpec

_SHAPES = {
    "agent": ('(["', '"])'),
    "choose": ('{"', '"}'),
    "assistant": ('(["', '"])'),
    "action": ('[["', '"]]'),
    "shell": ('[["', '"]]'),
    "decision": ('{{"', '"}}'),
    "checkpoint": ('{{"', '"}}'),
    "wait": ('(("', '"))'),
}


def edges(definition: Definition) -> Iterator[tuple[str, str, str]]:
    """Every way that a rule opens: source, what it takes to go there, and place.

    A way out of a mount is a source named ``docs[ready]``. The word is empty for `then`.
    """
    for source, to in definition.then.items():
        yield source, "", to
    for source, switch in definition.switches.items():
        for case in switch.cases:
            yield source, _word(case.value), case.to
        if switch.default is not None:
            yield source, "else", switch.default
    for place, caught in definition.catches.items():
        targets = dict.fromkeys(caught.values())
        for to in targets:
            yield place, " or ".join(outcome for outcome, target in caught.items() if target == to), to
    for place, limit in definition.limits.items():
        yield place, f"after {limit.visits} {'visit' if limit.visits == 1 else 'visits'}", limit.to


def draw_text(definition: Definition) -> str:
    """The graph as lines: each place with its kind, and under it where it leads.

    For example::

        review-change
        ▸ diff (shell)
            → inspect_change
          inspect_change (agent)
            "clean" → finish
    """
    lines = [definition.workflow]
    ways: dict[str, list[str]] = {}
    for source, word, to in edges(definition):
        ways.setdefault(_place_of(source), []).append(f"{_exit_of(source)}{word}{' ' if word else ''}→ {to}")
    for path in _in_order(definition):
        depth = "  " * path.count("/")
        entered = path == definition.entry or any(path == mount.entry for mount in definition.mounts.values())
        lines.append(f"{depth}{'▸' if entered else ' '} {path.rpartition('/')[2]} ({_kind(definition, path)})")
        lines.extend(f"{depth}    {way}" for way in ways.get(path, ()))
        if path in definition.nodes and _ends(definition, path):
            way_out = next(
                (name for mount in definition.mounts.values() for name, at in mount.exits.items() if at == path), ""
            )
            lines.append(f"{depth}    leaves by [{way_out}]" if way_out else f"{depth}    ends")
    return "\n".join(lines) + "\n"


def draw_mermaid(definition: Definition) -> str:
    """The graph as a mermaid flowchart, for a README or a browser."""
    ids = {path: f"n{number}" for number, path in enumerate([*definition.mounts, *definition.nodes])}
    lines = ["flowchart TD"]
    lines.extend(_mermaid_inside(definition, "", ids, "  "))
    lines.append(f"  start(( )) --> {ids[definition.entry]}")
    for source, word, to in edges(definition):
        word = f"{_exit_of(source)}{word}".strip()
        label = f'|"{_escaped(word)}"|' if word else ""
        arrow = "-.->" if word.startswith(("failed", "timed_out")) else "-->"
        lines.append(f"  {ids[_place_of(source)]} {arrow}{label} {ids[to]}")
    return "\n".join(lines) + "\n"


def _mermaid_inside(definition: Definition, scope: str, ids: dict[str, str], indent: str) -> Iterator[str]:
    for path, node in definition.nodes.items():
        if _scope(path) == scope:
            opening, closing = _SHAPES.get(node.kind, ('["', '"]'))
            yield f"{indent}{ids[path]}{opening}{_escaped(node.label or node.name)}{closing}"
    for path, mount in definition.mounts.items():
        if _scope(path) == scope:
            yield f'{indent}subgraph {ids[path]}["{_escaped(path.rpartition("/")[2])}: {_escaped(mount.workflow)}"]'
            yield from _mermaid_inside(definition, path, ids, indent + "  ")
            yield f"{indent}end"


def _in_order(definition: Definition) -> list[str]:
    """Places in the order that rules reach them, what stands inside a mount right under it."""
    out: dict[str, list[str]] = {}
    for source, _, to in edges(definition):
        out.setdefault(_place_of(source), []).append(to)
    order: list[str] = []

    def visit(entry: str) -> None:
        waiting = [entry]
        while waiting:
            place = waiting.pop(0)
            if place not in order:
                order.append(place)
                waiting.extend(out.get(place, ()))
                if place in definition.mounts:
                    visit(definition.mounts[place].entry)

    visit(definition.entry)
    return order


def _ends(definition: Definition, path: str) -> bool:
    return path not in definition.then and path not in definition.switches


def _kind(definition: Definition, path: str) -> str:
    mount = definition.mounts.get(path)
    if mount is not None:
        return f"mounts {mount.workflow}"
    node = definition.nodes[path]
    return ", ".join([node.kind, *_notes(node)])


def _notes(node: NodeSpec) -> Iterator[str]:
    if node.contract is not None:
        yield node.contract
    if node.retry is not None:
        yield f"{node.retry.attempts} tries"
    if node.label:
        yield node.label


def _scope(path: str) -> str:
    return path.rpartition("/")[0]


def _place_of(source: str) -> str:
    return source.partition("[")[0]


def _exit_of(source: str) -> str:
    _, bracket, rest = source.partition("[")
    return f"[{rest} " if bracket else ""


def _word(value: CaseValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _escaped(text: str) -> str:
    return text.replace("#", "#35;").replace('"', "#quot;").replace("<", "#lt;").replace("\n", " ")
