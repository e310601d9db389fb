"""Routing, pure: from a finished node to the next place, by the rules of a definition and nothing else."""

import json
from collections.abc import Mapping
from typing import Literal, TypeAlias

from attrs import frozen

from runwright.engine.authoring.jsonpath import MISSING, Missing, find, parse
from runwright.engine.graph.definition import BadOutcome, CaseValue, Definition, Switch
from runwright.eventstore.values import Json

Outcome: TypeAlias = Literal["completed", "failed", "timed_out"]


@frozen
class Leave:
    """One mount that is left; ``exit`` is ``None`` where a bad outcome leaves it uncaught."""

    mount: str
    exit: str | None
    outcome: Outcome


@frozen
class Go:
    """The run goes on at a node.

    Attributes:
        node: The full path of the node that starts next.
        enters: The mounts entered on the way, outermost first.
        leaves: The mounts left on the way, innermost first.
    """

    node: str
    enters: tuple[str, ...] = ()
    leaves: tuple[Leave, ...] = ()

    @property
    def place(self) -> str:
        """The place that the rules lead to: the outermost mount that is entered, or the node."""
        return self.enters[0] if self.enters else self.node


@frozen
class Complete:
    """The run completes with the output of the node that just finished."""

    leaves: tuple[Leave, ...] = ()


@frozen
class Uncaught:
    """No rule catches the bad outcome: it ends the run with the node's own code."""

    outcome: BadOutcome
    leaves: tuple[Leave, ...] = ()


@frozen
class RouteMissing:
    """No case matches and there is no default: the run fails with ``route_missing``.

    Attributes:
        source: The node's path, or the way out of a mount.
        on: The path into its output.
        found: The JSON type of what stands there, or ``missing``; never the value itself.
        cases: The known cases.
        leaves: The mounts left on the way, innermost first.
    """

    source: str
    on: str
    found: str
    cases: tuple[CaseValue, ...]
    code: Literal["route_missing"] = "route_missing"
    leaves: tuple[Leave, ...] = ()

    @property
    def message(self) -> str:
        """The safe sentence that the run fails with."""
        known = ", ".join(_text(case) for case in self.cases)
        return (
            f"No case of {self.source!r} matches {self.on} (found: {self.found}; known cases: {known}). "
            f"Add the case, or a default, to the switch."
        )


Route: TypeAlias = Go | Complete | Uncaught | RouteMissing


def first(definition: Definition) -> Go:
    """Where a fresh run begins."""
    return _enter(definition, definition.entry, {}, ())


def route(definition: Definition, path: str, outcome: Outcome, output: Json, visits: Mapping[str, int]) -> Route:
    """Say what follows a finished visit.

    Args:
        definition: The graph.
        path: The node that finished, all its attempts used.
        outcome: How it ended; ``cancelled`` is never routed.
        output: Its output; read only when it completed.
        visits: Entries so far by place (nodes and mounts), each in its open invocation.

    Returns:
        One of four: go on, complete, end uncaught, or no route.
    """
    if outcome == "completed":
        return _succeed(definition, path, path, output, visits)
    return _catch(definition, path, outcome, visits)


def entered(definition: Definition, mount: str) -> Go:
    """Say what follows an entry into a mount: the child's own entry, with nothing in it visited yet."""
    return _enter(definition, definition.mounts[mount].entry, {}, ())


def left(
    definition: Definition, mount: str, exit: str | None, outcome: Outcome, output: Json, visits: Mapping[str, int]
) -> Route:
    """Say what follows an exit from a mount, as the parent's rules have it.

    Args:
        definition: The graph.
        mount: The mount's path.
        exit: The way out; ``None`` where a bad outcome left it.
        outcome: How it was left.
        output: The way out's output; read only when it completed.
        visits: Entries so far by place, each in its open invocation.
    """
    if outcome == "completed":
        return _succeed(definition, f"{mount}[{exit}]", mount, output, visits)
    return _catch(definition, mount, outcome, visits)


def matches(case: CaseValue, value: Json) -> bool:
    """Whether a case is this value: by JSON type, then by value (1 is 1.0, and never true)."""
    if isinstance(case, bool) or isinstance(value, bool):
        return case is value
    if isinstance(case, int | float):
        return isinstance(value, int | float) and case == value
    return type(case) is type(value) and case == value


def json_type(value: Json | Literal[Missing.MISSING]) -> str:
    """The JSON name of a value's type."""
    match value:
        case Missing.MISSING:
            return "missing"
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _succeed(definition: Definition, source: str, path: str, output: Json, visits: Mapping[str, int]) -> Route:
    leaves: list[Leave] = []
    while True:
        if (to := definition.then.get(source)) is not None:
            return _enter(definition, to, visits, tuple(leaves))
        if (switch := definition.switches.get(source)) is not None:
            return _switch(definition, source, switch, output, visits, tuple(leaves))
        mount = next(definition.mounts_around(path), None)
        if mount is None:
            return Complete(tuple(leaves))
        # A checked definition has an exit for every node that a child can end at.
        name = next(name for name, node in mount.exits.items() if node == source)
        leaves.append(Leave(mount.path, name, "completed"))
        source, path = f"{mount.path}[{name}]", mount.path


def _switch(
    definition: Definition,
    source: str,
    switch: Switch,
    output: Json,
    visits: Mapping[str, int],
    leaves: tuple[Leave, ...],
) -> Route:
    value = find(output, parse(switch.on))
    if value is not MISSING:
        for case in switch.cases:
            if matches(case.value, value):
                return _enter(definition, case.to, visits, leaves)
    if switch.default is not None:
        return _enter(definition, switch.default, visits, leaves)
    cases = tuple(case.value for case in switch.cases)
    return RouteMissing(source, switch.on, json_type(value), cases, leaves=leaves)


def _catch(definition: Definition, path: str, outcome: BadOutcome, visits: Mapping[str, int]) -> Route:
    leaves: list[Leave] = []
    while True:
        if (to := definition.catches.get(path, {}).get(outcome)) is not None:
            return _enter(definition, to, visits, tuple(leaves))
        mount = next(definition.mounts_around(path), None)
        if mount is None:
            return Uncaught(outcome, tuple(leaves))
        path = mount.path
        leaves.append(Leave(path, None, outcome))


def _enter(definition: Definition, place: str, visits: Mapping[str, int], leaves: tuple[Leave, ...]) -> Go:
    enters: list[str] = []
    while True:
        # Limits form no cycle in a checked definition, so this ends.
        while (limit := definition.limits.get(place)) and visits.get(place, 0) >= limit.visits:
            place = limit.to
        mount = definition.mounts.get(place)
        if mount is None:
            return Go(place, tuple(enters), leaves)
        enters.append(mount.path)
        # A new invocation: nothing inside has been visited yet.
        place, visits = mount.entry, {}


def _text(case: CaseValue) -> str:
    return json.dumps(case, ensure_ascii=False)
