"""What can be wrong with a switch: its path, its cases, and what it forgets, judged by the output's type."""

from collections.abc import Iterator, Mapping
from typing import Any

from runwright.engine.authoring.conversion import Shape, Unstorable
from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.authoring.jsonpath import PathInvalid, parse
from runwright.engine.authoring.nodes import MountExit, Node
from runwright.engine.authoring.rules import Switch
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.graph.check_options import kept
from runwright.engine.graph.children import Children, exit_named
from runwright.engine.graph.problem import problem
from runwright.engine.graph.route import json_type, matches


def check_switches(workflow: Workflow[Any], children: Children) -> Iterator[DefinitionError]:
    """Every switch against the type of what it looks at."""
    for rule in workflow.rules:
        if isinstance(rule, Switch):
            yield from _cases(rule)
            yield from _typed(rule, _shape(rule, children))


def _shape(rule: Switch, children: Children) -> Shape | None:
    source: object = rule.source
    node: object = source
    if isinstance(source, MountExit):
        child = children.of(source.mount)
        way_out = exit_named(child, source.exit) if child is not None else None
        node = way_out.node if way_out is not None else None
    if not isinstance(node, Node):
        return None
    try:
        return node.shape
    except Unstorable:
        return None  # said already, at the node


def _cases(rule: Switch) -> Iterator[DefinitionError]:
    cases: object = rule.cases
    if not isinstance(cases, Mapping) or not cases:
        yield problem(rule.origin, "case_invalid", "A switch has no cases.", "Write `{value: place}`, or use `then`.")
        return
    if any(case is not None and type(case) not in (str, int, bool) for case in cases):
        message = "A case is a text, a whole number, a bool or None."
        yield problem(rule.origin, "case_invalid", message, "For an Enum write the member's value.")
    yield from kept(rule.origin, "A case", [case for case in cases if isinstance(case, str)])
    if any(isinstance(case, bool) for case in cases) and any(type(case) is int and case in (0, 1) for case in cases):
        message = "The cases mix 0 or 1 with False or True, which a dict cannot tell apart."
        yield problem(rule.origin, "case_mixed", message, "Keep one kind.")


def _typed(rule: Switch, shape: Shape | None) -> Iterator[DefinitionError]:
    fix = 'Use `$`, `.name`, `[n]` and `["any key"]`.'
    if not isinstance(rule.on, str):
        yield problem(rule.origin, "path_invalid", "on= has to be a text.", fix)
        return
    try:
        steps = parse(rule.on)
    except PathInvalid as refusal:
        yield problem(rule.origin, "path_invalid", f"on=: {refusal}.", fix)
        return
    for step in steps:
        if shape is None:
            return
        inner = shape.child(step)
        if inner is None:
            known = f" (it has: {', '.join(shape.fields)})" if shape.fields else ""
            message = f"{rule.on}: the output {shape.name!r} has no {step!r}{known}."
            yield problem(rule.origin, "path_unknown", message, "Name a part that the type has.")
            return
        shape = inner
    if shape is not None and isinstance(rule.cases, Mapping):
        yield from _covered(rule, shape)


def _covered(rule: Switch, shape: Shape) -> Iterator[DefinitionError]:
    cases = list(rule.cases)
    known = shape.finite()
    if known is None:
        for case in cases:
            kind = json_type(case)
            if kind not in shape.kinds and not (kind == "number" and "integer" in shape.kinds):
                message = f"The output at {rule.on} is never {case!r}: its type is {shape.name}."
                yield problem(rule.origin, "case_unknown", message, "Remove the case, or mend the path.")
        return
    shown = ", ".join(repr(value) for value in known)
    for case in cases:
        if not any(matches(case, value) for value in known):
            message = f"The output at {rule.on} is never {case!r}."
            yield problem(rule.origin, "case_unknown", message, f"Its values: {shown}.")
    missing = [value for value in known if not any(matches(case, value) for case in cases)]
    if missing and rule.default is None:
        message = f"No case for {', '.join(repr(value) for value in missing)}."
        yield problem(rule.origin, "case_missing", message, "Add a case for each, or a default.")
