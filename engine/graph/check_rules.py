"""What can be wrong with the rules of one workflow: places, sources, second rules, limits and ways."""

from collections.abc import Iterator
from typing import Any

from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.authoring.nodes import Mount, MountExit, Node, Place
from runwright.engine.authoring.origin import Origin
from runwright.engine.authoring.rules import Catch, Entry, Limit, Rule, Switch, Then
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.graph.check_nodes import is_manual
from runwright.engine.graph.problem import problem


def check_rules(workflow: Workflow[Any]) -> Iterator[DefinitionError]:
    """Every rule by itself, and against the others."""
    for rule in workflow.rules:
        yield from _places(workflow, rule)
        yield from _one(rule)
    yield from _entries(workflow)
    yield from _seconds(workflow)
    yield from _limit_cycles(workflow)


def knows(workflow: Workflow[Any], thing: object) -> bool:
    """Whether a place, or the mount of a way out, stands in this workflow."""
    if isinstance(thing, MountExit):
        thing = thing.mount
    return any(thing is place for place in (*workflow.nodes, *workflow.mounts))


def targets(rule: Rule) -> list[object]:
    """The places that a rule leads to."""
    match rule:
        case Entry():
            return [rule.place]
        case Switch():
            default = [] if rule.default is None else [rule.default]
            return [*(rule.cases.values() if hasattr(rule.cases, "values") else ()), *default]
        case Then() | Catch() | Limit():
            return [rule.to]


def _places(workflow: Workflow[Any], rule: Rule) -> Iterator[DefinitionError]:
    places = targets(rule)
    if isinstance(rule, Catch | Limit):
        places = [rule.place, *places]
    for place in places:
        if not isinstance(place, Place) or not knows(workflow, place):
            yield _unknown(workflow, rule.origin, place)
    if isinstance(rule, Then | Switch):
        source: object = rule.source
        if isinstance(source, Mount):
            yield problem(
                rule.origin,
                "source_unknown",
                f"{source.name!r} is a mount, and leads on through its exits.",
                f"Name one: `{source.name}[ready]`.",
            )
        elif not isinstance(source, Node | MountExit) or not knows(workflow, source):
            yield _unknown(workflow, rule.origin, source, "source")


def _unknown(workflow: Workflow[Any], origin: Origin, thing: object, what: str = "place") -> DefinitionError:
    if isinstance(thing, Place | MountExit):
        message = f"{thing.name!r} belongs to {thing.workflow!r} and is no {what} of {workflow.name!r}."
        return problem(origin, f"{what}_unknown", message, "Mount that workflow with `include`, and name the mount.")
    message = f"{_shown(thing)} is no {what}."
    fix = "Name the decorated function itself, or what `include` answered; not a text."
    return problem(origin, f"{what}_unknown", message, fix)


def _shown(thing: object) -> str:
    return repr(thing[:80]) if isinstance(thing, str) else f"A {type(thing).__name__}"


def _one(rule: Rule) -> Iterator[DefinitionError]:
    match rule:
        case Catch():
            if not _outcomes(rule) or any(each not in ("failed", "timed_out") for each in rule.on):
                fix = 'Write `on=("failed",)`, `on=("timed_out",)`, or leave it out for both.'
                yield problem(rule.origin, "outcome_unknown", "A catch is for failed and timed_out outcomes.", fix)
            yield from _manual(rule)
        case Limit() if type(rule.visits) is not int or rule.visits < 1:
            yield problem(
                rule.origin, "option_invalid", "A limit lets in one visit or more.", "Write `visits=1` or more."
            )
        case _:
            return


def _outcomes(rule: Catch) -> tuple[object, ...]:
    """What a catch is for; nothing where it lists nothing."""
    return rule.on if isinstance(rule.on, tuple) else ()


def _manual(rule: Catch) -> Iterator[DefinitionError]:
    place: object = rule.place
    if not isinstance(place, Node) or "timed_out" not in _outcomes(rule) or not is_manual(place.declaration):
        return
    if place.declaration.timeout is None:
        return
    yield problem(
        rule.origin,
        "manual_timeout_caught",
        f"{place.name!r} is a manual effect: out of time it parks for a person, and this catch never sees it.",
        'Write `on=("failed",)`, or declare `recovery="idempotent"` or `observe=`.',
        "warning",
    )


def _entries(workflow: Workflow[Any]) -> Iterator[DefinitionError]:
    entries = [rule for rule in workflow.rules if isinstance(rule, Entry)]
    if not entries:
        message = f"{workflow.name!r} has no entry."
        yield problem(workflow.origin, "entry_missing", message, f"Write `{workflow.name}.entry(first_place)`.")
    for second in entries[1:]:
        yield problem(second.origin, "entry_twice", "There is an entry already.", "Keep one.")


def _seconds(workflow: Workflow[Any]) -> Iterator[DefinitionError]:
    taken: set[tuple[str, str]] = set()
    for rule in workflow.rules:
        for key, code, message in _slots(rule):
            if (code, key) in taken:
                yield problem(rule.origin, code, message, "Keep one of the two.")
            taken.add((code, key))


def _slots(rule: Rule) -> Iterator[tuple[str, str, str]]:
    match rule:
        case Then() | Switch() if isinstance(rule.source, Node | MountExit):
            yield str(rule.source.key), "rule_twice", f"{rule.source.key!r} has a then or switch already."
        case Catch() if isinstance(rule.place, Place):
            for outcome in _outcomes(rule):
                message = f"{rule.place.name!r} has a catch for {outcome} already."
                yield f"{rule.place.name} {outcome}", "catch_twice", message
        case Limit() if isinstance(rule.place, Place):
            yield rule.place.name, "limit_twice", f"{rule.place.name!r} has a limit already."
        case _:
            return


def _limit_cycles(workflow: Workflow[Any]) -> Iterator[DefinitionError]:
    limits = {rule.place: rule for rule in workflow.rules if isinstance(rule, Limit) and knows(workflow, rule.place)}
    for start, rule in limits.items():
        seen: list[Place] = []
        place = start
        while isinstance(place, Place) and place in limits and place not in seen:
            seen.append(place)
            place = limits[place].to
        if place is start:
            chain = " -> ".join(each.name for each in (*seen, start))
            message = f"Used up, these limits lead in a circle: {chain}."
            yield problem(rule.origin, "limit_cycle", message, "Let one of them lead to a place without a limit.")
            return
