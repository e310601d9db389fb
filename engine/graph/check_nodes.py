"""What can be wrong with a workflow's parts by themselves: names, functions, types and options."""

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from runwright.engine.authoring.conversion import Unstorable, shape_of
from runwright.engine.authoring.declaration import Declaration
from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.authoring.limits import limit_us
from runwright.engine.authoring.nodes import Node
from runwright.engine.authoring.origin import Origin
from runwright.engine.authoring.outputs import return_type
from runwright.engine.authoring.times import Retry
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.graph.check_options import bad_option, check_choices, check_options, kept
from runwright.engine.graph.problem import problem

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
#: The words of the ``/workflow`` command, and of the tool that agents have.
RESERVED = frozenset(
    {"answer", "cancel", "help", "list", "pause", "restart", "resume", "show", "start", "status", "submit", "update"}
)
#: What `max_steps` can be at most.
MOST_STEPS = 1_000_000_000
#: What to do about a function that cannot be called with what it is given.
TAKE = {1: "Let it take 1 positional argument.", 2: "Let it take 2 positional arguments."}


def check_names(workflow: Workflow[Any]) -> Iterator[DefinitionError]:
    """Names that are no names, reserved, or given twice."""
    yield from _name(workflow.origin, "workflow", workflow.name)
    if isinstance(workflow.name, str) and workflow.name in RESERVED:
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
            if not isinstance(each.name, str):
                continue
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
    steps: object = workflow.max_steps
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
        message = f"max_steps has to be a whole number from 1 to {MOST_STEPS:,}."
        yield bad_option(workflow.origin, message, "Write `max_steps=1000`.")
    yield from _time(workflow.origin, "timeout", workflow.timeout)
    if isinstance(workflow.instructions, str | None):
        yield from kept(workflow.origin, "presentation", workflow.instructions)
    else:
        yield bad_option(workflow.origin, "presentation has to be a text.", 'Write `presentation="…"`.')
    for what, function, arguments in _own_functions(workflow):
        if not takes(function, len(arguments)):
            message = f"{what} of {workflow.name!r} cannot be called with `({', '.join(arguments)})`."
            yield problem(workflow.origin, "function_invalid", message, TAKE[len(arguments)])
    if len(workflow.presenters) + (workflow.instructions is not None) > 1:
        yield problem(
            workflow.origin,
            "presentation_twice",
            "The presentation is given more than once.",
            "Keep the text `presentation=` or one function.",
        )


def _own_functions(workflow: Workflow[Any]) -> Iterator[tuple[str, object, tuple[str, ...]]]:
    """The functions of the workflow itself, with what each is called with."""
    if callable(workflow.timeout):
        yield "timeout=", workflow.timeout, ("ctx",)
    for function in workflow.presenters:
        yield "the presentation", function, ("ctx", "result")


def check_node(node: Node[..., Any, Any]) -> Iterator[DefinitionError]:
    """One node's function, type and options."""
    declared = node.declaration
    yield from _functions(declared)
    yield from _shell_text(declared)
    yield from check_options(declared)
    yield from check_choices(declared)
    try:
        _ = node.shape
    except Unstorable as refusal:
        message = f"The output of {node.name!r}: {refusal.problem}."
        yield problem(node.origin, "type_unstorable", message, f"{refusal.fix}.")
    yield from _time(node.origin, "timeout", declared.timeout)
    yield from _contract(declared)
    yield from _retry(declared)
    yield from _kind(declared)


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
        if not takes(function, count):
            second = "request" if what in ("the function", "observe=") else "value"
            arguments = "(ctx)" if count == 1 else f"(ctx, {second})"
            arguments = "(result)" if what == "parse=" else arguments
            yield problem(
                declared.origin,
                "function_invalid",
                f"{what} of {declared.name!r} cannot be called with `{arguments}`.",
                TAKE[count],
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


def takes(function: object, count: int) -> bool:
    """Whether a function can be called with so many arguments, as far as it tells."""
    if isinstance(function, Node) or not callable(function):
        return isinstance(function, Node)
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True  # a built-in that does not tell
    return True


def _contract(declared: Declaration) -> Iterator[DefinitionError]:
    if declared.kind not in ("action", "shell"):
        return
    if declared.recovery not in (None, "manual", "idempotent"):
        message = f"recovery of {declared.name!r} has to be 'manual' or 'idempotent'."
        yield bad_option(declared.origin, message, "Write one of them, or `observe=`.")
    effect = declared.effect
    if isinstance(effect, str) and len(effect.encode("utf-8", "surrogatepass")) > 64:
        message = f"The effect type of {declared.name!r} has to be a text of at most 64 bytes."
        yield bad_option(declared.origin, message, "Shorten it; what differs belongs into the request.")
    if declared.observe is not None and declared.recovery is not None:
        message = f"{declared.name!r} has recovery and observe."
        yield bad_option(declared.origin, message, "Keep one of them: an observed effect needs no recovery.")


def _retry(declared: Declaration) -> Iterator[DefinitionError]:
    retry: object = declared.retry
    if retry is None:
        return
    if not isinstance(retry, Retry) or not _sound(retry):
        message = f"The retry of {declared.name!r} does not hold."
        yield bad_option(declared.origin, message, "attempts from 1, first and maximum from zero, factor from 1.")
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
    if declared.notice not in ("interim", "final") and declared.kind == "notify":
        yield bad_option(origin, f"kind of {name!r} has to be 'interim' or 'final'.", "Write one of them.")
    if declared.kind == "assistant" and (type(declared.max_chars) is not int or declared.max_chars < 1):
        yield bad_option(origin, f"max_chars of {name!r} has to be a whole number from 1.", "Write `max_chars=8000`.")
    if declared.deadline is not None:
        yield from _fixed_time(origin, "deadline", declared.deadline)
    if declared.kind == "wait" and declared.function is None and not isinstance(declared.after, timedelta):
        yield bad_option(origin, f"The fixed wait {name!r} needs a timedelta.", 'Write `wait("pause", minutes(5))`.')


def _time(origin: Origin, what: str, value: object) -> Iterator[DefinitionError]:
    if not callable(value):
        yield from _fixed_time(origin, what, value)


def _fixed_time(origin: Origin, what: str, value: object) -> Iterator[DefinitionError]:
    try:
        limit_us(value)
    except ValueError as refusal:
        yield bad_option(origin, f"{what}: {refusal}.", "Write seconds, `minutes(5)`, or None.")


def is_manual(declared: Declaration) -> bool:
    """Whether an uncertain end of this node is a person's to settle."""
    return declared.kind in ("action", "shell") and declared.observe is None and declared.recovery != "idempotent"
