"""What can be wrong with a workflow's parts by themselves: names, functions, types and options."""

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from runwright.engine.authoring.conversion import PLAIN, NotConvertible, Unstorable, shape_of
from runwright.engine.authoring.declaration import Declaration
from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.authoring.limits import limit_us
from runwright.engine.authoring.nodes import Node
from runwright.engine.authoring.origin import Origin
from runwright.engine.authoring.outputs import return_type
from runwright.engine.authoring.questions import Choice
from runwright.engine.authoring.times import Retry
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.graph.problem import problem

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
#: The words of the ``/workflow`` command, and of the tool that agents have.
RESERVED = frozenset(
    {"answer", "cancel", "help", "list", "pause", "restart", "resume", "show", "start", "status", "submit", "update"}
)


def check_names(workflow: Workflow[Any]) -> Iterator[DefinitionError]:
    """Names that are no names, reserved, or given twice."""
    yield from _name(workflow.origin, "workflow", workflow.name)
    if workflow.name in RESERVED:
        yield problem(
            workflow.origin,
            "name_reserved",
            f"{workflow.name!r} is a word of the /workflow command.",
            "Give the workflow another name.",
        )
    places = [*workflow.nodes, *workflow.mounts]
    for what, named in (("place", places), ("exit", workflow.exits)):
        taken: Counter[str] = Counter()
        for each in named:
            yield from _name(each.origin, what, each.name)
            taken[each.name] += 1
            if taken[each.name] == 2:
                message = f"There are two {what}s named {each.name!r}."
                yield problem(each.origin, "name_taken", message, "Rename one of them: `name=` sets a node's name.")


def _name(origin: Origin, what: str, name: object) -> Iterator[DefinitionError]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield problem(
            origin,
            "name_invalid",
            f"{str(name)[:80]!r} is no name for a {what}.",
            "Use a letter or underscore, then up to 63 letters, digits, underscores and hyphens.",
        )


def check_workflow(workflow: Workflow[Any]) -> Iterator[DefinitionError]:
    """The workflow's own options."""
    try:
        shape_of(workflow.input)
    except Unstorable as refusal:
        yield problem(workflow.origin, "type_unstorable", f"input: {refusal.problem}.", f"{refusal.fix}.")
    if isinstance(workflow.max_steps, bool) or not isinstance(workflow.max_steps, int) or workflow.max_steps < 1:
        yield _option(workflow.origin, "max_steps has to be a whole number from 1.", "Write `max_steps=1000`.")
    yield from _time(workflow.origin, "timeout", workflow.timeout)
    yield from _kept(workflow.origin, "presentation", workflow.instructions)
    if len(workflow.presenters) + (workflow.instructions is not None) > 1:
        yield problem(
            workflow.origin,
            "presentation_twice",
            "The presentation is given more than once.",
            "Keep the text `presentation=` or one function.",
        )


def check_node(node: Node[..., Any, Any]) -> Iterator[DefinitionError]:
    """One node's function, type and options."""
    declared = node.declaration
    yield from _functions(declared)
    yield from _shell_text(declared)
    yield from _choices(declared)
    try:
        _ = node.shape
    except Unstorable as refusal:
        message = f"The output of {node.name!r}: {refusal.problem}."
        yield problem(node.origin, "type_unstorable", message, f"{refusal.fix}.")
    yield from _time(node.origin, "timeout", declared.timeout)
    yield from _contract(declared)
    yield from _retry(declared)
    yield from _kind(declared)
    for what in ("label", "schema", "by", "effect", "audience", "summary"):
        yield from _kept(node.origin, f"{what} of {node.name!r}", getattr(declared, what))
    shown = [[each.name, each.label, each.text] if isinstance(each, Choice) else each for each in declared.choices]
    yield from _kept(node.origin, f"choices of {node.name!r}", shown)


def _kept(origin: Origin, what: str, value: object) -> Iterator[DefinitionError]:
    """What is kept with the definition, or shown as it was written, has to be storable."""
    try:
        PLAIN.dump(value)
    except NotConvertible as refusal:
        yield _option(origin, f"{what}: {refusal.problem}.", f"{refusal.fix or 'Write plain JSON'}.")


def _functions(declared: Declaration) -> Iterator[DefinitionError]:
    wanted = {
        "the function": (declared.function, 2 if declared.request is not None else 1),
        "request=": (declared.request, 1),
        "observe=": (declared.observe, 2),
        "validate=": (declared.validate, 2),
        "parse=": (declared.parse, 1),
        "timeout=": (declared.timeout if callable(declared.timeout) else None, 1),
    }
    if declared.after is not None:
        del wanted["the function"]
    for what, (function, count) in wanted.items():
        if function is None and what != "the function":
            continue
        if not _takes(function, count):
            second = "request" if what in ("the function", "observe=") else "value"
            arguments = "(ctx)" if count == 1 else f"(ctx, {second})"
            arguments = "(result)" if what == "parse=" else arguments
            yield problem(
                declared.origin,
                "function_invalid",
                f"{what} of {declared.name!r} cannot be called with `{arguments}`.",
                f"Let it take {count} positional {'argument' if count == 1 else 'arguments'}.",
            )


def _shell_text(declared: Declaration) -> Iterator[DefinitionError]:
    if declared.kind != "shell":
        return
    try:
        returned = return_type(declared.function)
    except Unstorable:
        return  # only said where the annotation is the output's
    if returned is str:
        message = f"{declared.name!r} returns a text, which no shell will read."
        yield problem(declared.origin, "function_invalid", message, "Return a list, or `Command.sh(text)`.")


def _takes(function: object, count: int) -> bool:
    if isinstance(function, Node) or not callable(function):
        return isinstance(function, Node)
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True  # a built-in that does not tell
    return True


def _choices(declared: Declaration) -> Iterator[DefinitionError]:
    if declared.kind not in ("choose", "decision"):
        return
    names = declared.choice_names
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        yield problem(
            declared.origin,
            "choices_invalid",
            f"The choices of {declared.name!r} have to be one or more different names.",
            'Write `choices=["yes", "no"]`.',
        )
    if declared.on_timeout is None:
        return
    if declared.on_timeout not in names:
        message = f"on_timeout of {declared.name!r} is none of its choices."
        yield problem(declared.origin, "choices_invalid", message, f"Use one of {', '.join(map(str, names))}.")
    if declared.deadline is None:
        message = f"{declared.name!r} has on_timeout and no deadline."
        yield _option(declared.origin, message, "Add `deadline=hours(24)`.")


def _contract(declared: Declaration) -> Iterator[DefinitionError]:
    if declared.kind not in ("action", "shell"):
        return
    if declared.recovery not in (None, "manual", "idempotent"):
        message = f"recovery of {declared.name!r} has to be 'manual' or 'idempotent'."
        yield _option(declared.origin, message, "Write one of them, or `observe=`.")
    effect = declared.effect
    if effect is not None and (not isinstance(effect, str) or len(effect.encode("utf-8", "surrogatepass")) > 64):
        message = f"The effect type of {declared.name!r} has to be a text of at most 64 bytes."
        yield _option(declared.origin, message, "Shorten it; what differs belongs into the request.")
    if declared.observe is not None and declared.recovery is not None:
        message = f"{declared.name!r} has recovery and observe."
        yield _option(declared.origin, message, "Keep one of them: an observed effect needs no recovery.")


def _retry(declared: Declaration) -> Iterator[DefinitionError]:
    retry: object = declared.retry
    if retry is None:
        return
    if not isinstance(retry, Retry) or not _sound(retry):
        message = f"The retry of {declared.name!r} does not hold."
        yield _option(declared.origin, message, "attempts from 1, first and maximum from zero, factor from 1.")
    if is_manual(declared):
        yield problem(
            declared.origin,
            "retry_manual",
            f"{declared.name!r} is a manual effect and cannot be retried.",
            'Declare `recovery="idempotent"` or `observe=`, or leave the retry out.',
        )


def _sound(retry: Retry) -> bool:
    numbers = isinstance(retry.attempts, int) and isinstance(retry.factor, int | float)
    times = isinstance(retry.first, timedelta) and isinstance(retry.maximum, timedelta)
    if not numbers or not times:
        return False
    zero = timedelta(0)
    return 1 <= retry.attempts <= 1000 and 1 <= retry.factor < 1e6 and retry.first >= zero and retry.maximum >= zero


def _kind(declared: Declaration) -> Iterator[DefinitionError]:
    name, origin = declared.name, declared.origin
    if declared.notice not in (None, "interim", "final"):
        yield _option(origin, f"kind of {name!r} has to be 'interim' or 'final'.", "Write one of them.")
    if declared.max_chars is not None and (type(declared.max_chars) is not int or declared.max_chars < 1):
        yield _option(origin, f"max_chars of {name!r} has to be a whole number from 1.", "Write `max_chars=8000`.")
    if declared.deadline is not None:
        yield from _time(origin, "deadline", declared.deadline)
    if declared.kind == "wait" and declared.function is None and not isinstance(declared.after, timedelta):
        yield _option(origin, f"The fixed wait {name!r} needs a timedelta.", 'Write `wait("pause", minutes(5))`.')


def _time(origin: Origin, what: str, value: object) -> Iterator[DefinitionError]:
    if callable(value):
        return
    try:
        limit_us(value)
    except ValueError as refusal:
        yield _option(origin, f"{what}: {refusal}.", "Write seconds, `minutes(5)`, or None.")


def is_manual(declared: Declaration) -> bool:
    """Whether an uncertain end of this node is a person's to settle."""
    return declared.kind in ("action", "shell") and declared.observe is None and declared.recovery != "idempotent"


def _option(origin: Origin, message: str, fix: str) -> DefinitionError:
    return problem(origin, "option_invalid", message, fix)
