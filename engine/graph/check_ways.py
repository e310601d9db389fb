"""What can be wrong with where rules lead: unreachable places, and ways out that are missing."""

from collections.abc import Iterator
from typing import Any

from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.authoring.nodes import Mount, MountExit, Node, Place
from runwright.engine.authoring.rules import Catch, Entry, Limit, Switch, Then
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.graph.check_nodes import TAKE, takes
from runwright.engine.graph.check_rules import knows, targets
from runwright.engine.graph.children import Children, exit_named
from runwright.engine.graph.problem import listed, problem

#: The bytes that a full node path may have.
LONGEST_PATH = 1024


def reachable(workflow: Workflow[Any]) -> list[Place]:
    """The places that rules lead to from the entry, nearest first."""
    found: list[Place] = []
    waiting = [rule.place for rule in workflow.rules if isinstance(rule, Entry)]
    while waiting:
        place = waiting.pop(0)
        if not isinstance(place, Place) or place in found or not knows(workflow, place):
            continue
        found.append(place)
        for rule in workflow.rules:
            if not isinstance(rule, Entry) and _starts_at(rule, place):
                waiting.extend(to for to in targets(rule) if isinstance(to, Place))
    return found


def _starts_at(rule: Then | Switch | Catch | Limit, place: Place) -> bool:
    if isinstance(rule, Catch | Limit):
        return rule.place is place
    source = rule.source
    return source is place or (isinstance(source, MountExit) and source.mount is place)


def check_reachable(workflow: Workflow[Any]) -> Iterator[DefinitionError]:
    """Places that no rule leads to."""
    if not any(isinstance(rule, Entry) for rule in workflow.rules):
        return  # without an entry everything is unreachable, and that is said already
    found = reachable(workflow)
    for place in (*workflow.nodes, *workflow.mounts):
        if place not in found:
            message = f"No rule leads to {place.name!r}."
            yield problem(place.origin, "place_unreachable", message, "Add a rule, or remove it.")


def check_exits(workflow: Workflow[Any]) -> Iterator[DefinitionError]:
    """Exits that name no node, or one that never ends the workflow."""
    for way_out in workflow.exits:
        node: object = way_out.node
        if not isinstance(node, Node) or not knows(workflow, node):
            message = f"The exit {way_out.name!r} names no node of {workflow.name!r}."
            yield problem(way_out.origin, "exit_invalid", message, "Name one of its own nodes.")
        elif _goes_on(workflow, node):
            message = f"The exit {way_out.name!r} is never taken: {node.name!r} goes on by a rule."
            yield problem(way_out.origin, "exit_invalid", message, "Remove the rule, or name a node that ends.")
        elif any(other.node is node for other in workflow.exits[: workflow.exits.index(way_out)]):
            message = f"{node.name!r} has an exit already."
            yield problem(way_out.origin, "exit_invalid", message, "Keep one exit for each node.")


def _goes_on(workflow: Workflow[Any], source: object) -> bool:
    return any(isinstance(rule, Then | Switch) and rule.source is source for rule in workflow.rules)


def _ends(workflow: Workflow[Any]) -> Iterator[str]:
    """The names of the sources that a workflow can end at and that are no exit."""
    exits = [way_out.node for way_out in workflow.exits]
    for place in reachable(workflow):
        if isinstance(place, Node) and not _goes_on(workflow, place) and not any(place is node for node in exits):
            yield place.name


def check_mounts(workflow: Workflow[Any], children: Children) -> Iterator[DefinitionError]:
    """What a workflow says about its children."""
    for mount in workflow.mounts:
        child = children.of(mount)
        if child is None:
            if isinstance(mount.child, str):
                why = children.unknown.get(mount.child)
                if why is not None:
                    message = f"The child {mount.child!r} of {mount.name!r} cannot be found or loaded: {why}"
                    yield problem(mount.origin, "child_unknown", message, "See `runwright workflows` for the names.")
            else:
                message = f"{mount.name!r} mounts something that is no workflow."
                yield problem(mount.origin, "child_unknown", message, "Name a Workflow, or a reference as text.")
            continue
        if not callable(mount.input):
            message = f"input= of {mount.name!r} is no function."
            fix = "Write `input=lambda ctx: …`."
            yield problem(mount.origin, "function_invalid", message, fix)
        elif not takes(mount.input, 1):
            message = f"input= of {mount.name!r} cannot be called with `(ctx)`."
            yield problem(mount.origin, "function_invalid", message, TAKE[1])
        ends = [*_ends(child), *_open_mounts(child, children)]
        if ends:
            message = f"{child.name!r} can end at {listed(ends)}, which is no exit of it."
            fix = f"Declare one for each: `{child.name}.exit(name, node)`."
            yield problem(mount.origin, "exit_missing", message, fix)
        if child.timeout is not None or child.instructions is not None or child.presenters:
            message = f"The timeout and presentation of {child.name!r} do not apply where it is mounted."
            fix = "Only the root's do; catch the mount, or limit its nodes."
            yield problem(mount.origin, "child_option_ignored", message, fix, "warning")
    yield from _exits_named(workflow, children)


def _open_mounts(workflow: Workflow[Any], children: Children) -> Iterator[str]:
    """Ways out of a workflow's own mounts that no rule takes further."""
    taken = {
        rule.source.key
        for rule in workflow.rules
        if isinstance(rule, Then | Switch) and isinstance(rule.source, MountExit)
    }
    places = reachable(workflow)
    for mount in workflow.mounts:
        child = children.of(mount)
        if child is not None and mount in places:
            yield from (key for way in child.exits if (key := f"{mount.name}[{way.name}]") not in taken)


def _exits_named(workflow: Workflow[Any], children: Children) -> Iterator[DefinitionError]:
    for rule in workflow.rules:
        if not isinstance(rule, Then | Switch) or not isinstance(rule.source, MountExit):
            continue
        source = rule.source
        child = children.of(source.mount)
        if child is None or exit_named(child, source.exit) is not None:
            continue
        known = listed([way.name for way in child.exits])
        message = f"{child.name!r} has no exit {source.name!r} (it has: {known})."
        yield problem(rule.origin, "exit_unknown", message, "Name one of its exits.")


def _depth(workflow: Workflow[Any], children: Children, above: int) -> Iterator[DefinitionError]:
    """Node paths that are longer than an identity may be."""
    for place in (*workflow.nodes, *workflow.mounts):
        length = above + len(str(place.name).encode("utf-8", "surrogatepass"))
        child = children.of(place) if isinstance(place, Mount) else None
        if length > LONGEST_PATH:
            message = f"The full path of {place.name!r} is over {LONGEST_PATH} bytes."
            yield problem(place.origin, "path_too_long", message, "Mount less deep, or shorten the names.")
        elif child is not None:
            yield from _depth(child, children, length + 1)


def check_cycle(workflow: Workflow[Any], children: Children) -> Iterator[DefinitionError]:
    """A workflow that contains itself."""
    chain = children.cycle(workflow)
    if chain is None:
        yield from _depth(workflow, children, 0)
        return
    names = [workflow.name]
    for mount in chain:
        child = children.of(mount)
        assert child is not None
        names.append(f"{child.name} (as {mount.name!r})")
    message = f"A workflow cannot contain itself: {' -> '.join(names)}."
    yield problem(chain[-1].origin, "mount_cycle", message, "Use a loop in one workflow instead.")
