"""The shape of a graph as people see it: its places in the order in which a run comes to them, and where each leads."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from runwright.engine.graph.draw import edges

if TYPE_CHECKING:
    from runwright.engine.graph.definition import Definition


#: What it takes to go on, and where to, by the place that is left.
Ways = Mapping[str, Sequence[tuple[str, str]]]


@frozen(kw_only=True)
class Way:
    """One way out of a place.

    Attributes:
        when: What it takes to go there; empty for nothing.
        to: The place it leads to.
        back: Whether it leads back to where the run came from: a loop.
    """

    when: str
    to: str
    back: bool


@frozen(kw_only=True)
class Place:
    """One node or mount.

    Attributes:
        path: Its full path.
        name: What it is shown as: its label, else the last part of its path.
        kind: The node's kind, or ``mounts`` and the workflow in it.
        depth: How many mounts are around it.
        mount: Whether it is a mount.
        ways: Where it leads.
    """

    path: str
    name: str
    kind: str
    depth: int
    mount: bool = False
    ways: tuple[Way, ...] = ()


@frozen(kw_only=True)
class Shape:
    """A whole graph; without a definition it has no places, and shows those that were visited.

    Attributes:
        entry: The first place.
        places: Every place by path, as a run comes to them first, each mount right before what stands in it.
    """

    entry: str | None
    places: dict[str, Place]

    @classmethod
    def of(cls, definition: "Definition | None") -> "Shape":
        """Work out the shape of a definition."""
        if definition is None:
            return cls(entry=None, places={})
        out: dict[str, list[tuple[str, str]]] = {}
        for source, when, to in edges(definition):
            left, bracket, rest = source.partition("[")
            out.setdefault(left, []).append((f"{bracket}{rest} {when}".strip(), to))
        reached = _in_order(definition, definition.entry, out)
        order = list(dict.fromkeys([*reached, *definition.mounts, *definition.nodes]))
        rank = {path: number for number, path in enumerate(order)}

        def loops(path: str, to: str) -> bool:
            return to == path or (rank[to] < rank[path] and _leads_to(to, path, out))

        def place(path: str) -> Place:
            ways = tuple(Way(when=when, to=to, back=loops(path, to)) for when, to in out.get(path, ()))
            return _place(definition, path, ways)

        return cls(entry=definition.entry, places={path: place(path) for path in order})


def _place(definition: "Definition", path: str, ways: tuple[Way, ...]) -> Place:
    mount, node = definition.mounts.get(path), definition.nodes.get(path)
    return Place(
        path=path,
        name=(node.label if node is not None else "") or path.rpartition("/")[2],
        kind=f"mounts {mount.workflow}" if mount is not None else str(node.kind if node is not None else ""),
        depth=path.count("/"),
        mount=mount is not None,
        ways=ways,
    )


def _in_order(definition: "Definition", entry: str, out: Ways) -> Iterator[str]:
    """Places as a run comes to them; what stands in a mount follows it at once."""
    for path in _flow(entry, out):
        yield path
        if path in definition.mounts:
            yield from _in_order(definition, definition.mounts[path].entry, out)


def _flow(entry: str, out: Ways) -> list[str]:
    """Every place behind those that lead to it, as far as loops allow, and what is written first before the rest."""
    seen, finished = {entry}, []
    open_ones = [(entry, iter(reversed(out.get(entry, ()))))]
    while open_ones:
        path, ways = open_ones[-1]
        to = next((to for _, to in ways if to not in seen), None)
        if to is None:
            finished.append(path)
            open_ones.pop()
        else:
            seen.add(to)
            open_ones.append((to, iter(reversed(out.get(to, ())))))
    return finished[::-1]


def _leads_to(source: str, target: str, out: Ways) -> bool:
    """Whether a run can come from one place to another."""
    seen, waiting = {source}, [source]
    while waiting:
        for _, to in out.get(waiting.pop(), ()):
            if to == target:
                return True
            if to not in seen:
                seen.add(to)
                waiting.append(to)
    return False
