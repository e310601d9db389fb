"""Options of any type at all: each is an error of its own with its option and the next step; none ends the check."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from runwright import Choice, Workflow, hours, minutes
from runwright.engine.authoring.errors import DefinitionError
from support.faulty import ok

Flow = Any
#: What a type checker would refuse.
ODD_LABEL: Any = 3
Declare = Callable[[Flow], Any]


def endless() -> list[Any]:
    """A list that contains itself."""
    items: list[Any] = []
    items.append(items)
    return items


def branch(flow: Flow, on: Any) -> Any:
    """A catch for what is given."""
    node = flow.compute(ok)
    flow.catch(node, flow.compute(name="other")(ok), on=on)
    return node


def switch(flow: Flow, cases: Any, on: Any = "$") -> Any:
    """A switch over what is given; a case leads to a node of its own."""
    node = flow.compute(ok)
    other = flow.compute(name="other")(ok)
    flow.switch(node, dict.fromkeys(cases, other), on=on, default=other)
    return node


def mounted(flow: Flow, exit: Any = "done", **given: Any) -> Any:
    """A mount, left by what is given."""
    child: Flow = Workflow("child")
    leaf = child.compute(name="leaf")(ok)
    child.entry(leaf)
    child.exit("done", leaf)
    mount = flow.include("mount", child, **{"input": ok, **given})
    flow.then(mount[exit], flow.compute(name="after")(ok))
    return mount


#: What is declared, the code of what is found, and a part of what it says.
ODD: dict[str, tuple[Declare, str, str]] = {
    "label": (lambda f: f.compute(label=3)(ok), "option_invalid", "label of 'ok' has to be a text. Write `label="),
    "by": (lambda f: f.agent(by=None)(ok), "option_invalid", "by of 'ok' has to be a text."),
    "audience": (lambda f: f.decision(choices=["a"], audience=["x"])(ok), "option_invalid", "audience of 'ok'"),
    "no summary": (lambda f: f.checkpoint()(ok), "option_invalid", 'has to be a text. Write `summary="…"`.'),
    "effect": (lambda f: f.action(effect=endless())(ok), "option_invalid", "effect of 'ok' has to be a text."),
    "protected": (lambda f: f.checkpoint(summary="", protected="no")(ok), "option_invalid", "has to be a bool."),
    "schema of no type": (lambda f: f.agent(schema=[])(ok), "type_unstorable", "The schema is no JSON object."),
    "schema is text": (lambda f: f.agent(schema="object")(ok), "type_unstorable", "The schema is no JSON object."),
    "schema key": (lambda f: f.agent(schema={1: 2})(ok), "type_unstorable", "The schema is no JSON object."),
    "schema and type": (lambda f: f.agent(schema={}, returns=int)(ok), "option_invalid", "has returns and schema."),
    "an exception": (lambda f: f.action(certain=ValueError)(ok), "option_invalid", "Write `certain=[ValueError]`."),
    "no exceptions": (lambda f: f.shell(uncertain=["x"])(ok), "option_invalid", "list of exception classes."),
    "choices are text": (lambda f: f.decision(choices="yes")(ok), "choices_invalid", "one or more different names."),
    "choices": (lambda f: f.choose(choices=7)(ok), "choices_invalid", "one or more different names."),
    "a choice": (lambda f: f.decision(choices=[Choice("a", label=ODD_LABEL)])(ok), "choices_invalid", "Choice("),
    "choices unhashable": (lambda f: f.decision(choices=[["a"]])(ok), "choices_invalid", "different names."),
    "deadline": (lambda f: f.decision(choices=["a"], deadline=hours)(ok), "option_invalid", "not function."),
    "kind": (lambda f: f.notify(kind=None)(ok), "option_invalid", "'interim' or 'final'"),
    "max_chars": (lambda f: f.assistant(max_chars=None)(ok), "option_invalid", "a whole number from 1."),
    "stray": (lambda f: f.compute(recovery="idempotent")(ok), "option_invalid", "compute nodes take no recovery=,"),
    "mistyped": (lambda f: f.agent(retrys=3)(ok), "option_invalid", "They take by, label, name, retry, returns,"),
    "retry of notify": (lambda f: f.notify(retry=None)(ok), "option_invalid", "notify nodes take no retry="),
    "time of a wait": (lambda f: f.wait("ok", minutes(1), timeout=3), "option_invalid", "wait nodes take no timeout="),
    "effect of a shell": (lambda f: f.shell(effect="x")(ok), "option_invalid", "shell nodes take no effect=,"),
    "name": (lambda f: f.compute(name=["x"])(ok), "name_invalid", "is no name for a place."),
    "half a name": (lambda f: f.compute(name="caf\udce9")(ok), "name_invalid", "is no name for a place."),
    "endless name": (lambda f: f.compute(name="x" * 9999)(ok), "name_invalid", "Use a letter or underscore"),
    "catch of nothing": (lambda f: branch(f, None), "outcome_unknown", "failed and timed_out"),
    "catch of bytes": (lambda f: branch(f, b"failed"), "outcome_unknown", "failed and timed_out"),
    "path": (lambda f: switch(f, ["a"], on=b"$"), "path_invalid", "on= has to be a text."),
    "case": (lambda f: switch(f, ["caf\udce9"]), "option_invalid", "half of a character pair"),
    "way out": (lambda f: mounted(f, exit=3), "exit_unknown", "has no exit '3'"),
    "input": (lambda f: mounted(f, input=lambda: 3), "function_invalid", "cannot be called with `(ctx)`."),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_option_is_named(odd: str) -> None:
    """Decorators and rules raise nothing; the one thing that is wrong is found where it was written."""
    declare, code, said = ODD[odd]
    flow: Flow = Workflow("flow")
    flow.entry(declare(flow))
    errors = [each for each in flow.check() if each.severity == "error"]
    found = next(each for each in errors if each.code == code)
    assert said in f"{found.message} {found.fix}"
    assert found.file == __file__
    assert len(str(found).encode()) < 3_000


def test_a_limit_may_lead_to_nothing_that_has_a_hash() -> None:
    """What is no place is said to be none, whatever it is."""
    flow: Flow = Workflow("flow")
    node = flow.compute(ok)
    flow.entry(node)
    flow.limit(node, 1, ["elsewhere"])
    assert [each.code for each in flow.check()] == ["place_unknown"]


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"name": ["flow"]}, "name_invalid", "is no name for a workflow."),
        ({"presentation": endless()}, "option_invalid", "presentation has to be a text."),
        ({"max_steps": 2**63}, "option_invalid", "max_steps has to be a whole number from 1 to 1,000,000,000."),
        ({"timeout": lambda: 3}, "function_invalid", "timeout= of 'flow' cannot be called with `(ctx)`."),
    ],
)
def test_an_odd_option_of_a_workflow_is_named(given: dict[str, Any], code: str, said: str) -> None:
    """As those of its nodes; steps that no store can count ended the start in an error of its own."""
    flow: Flow = Workflow(**{"name": "flow", **given})
    flow.entry(flow.compute(ok))
    (found,) = flow.check()
    assert (found.code, said in found.message) == (code, True), found


def test_a_presentation_is_called_with_context_and_result() -> None:
    """One that takes less would fail after the run, where nobody looks."""
    flow: Flow = Workflow("flow")
    flow.entry(flow.compute(ok))
    flow.presentation(ok)
    (found,) = flow.check()
    assert found.code == "function_invalid"
    assert "`(ctx, result)`" in found.message


def test_lists_may_be_of_any_kind() -> None:
    """A generator is read once, where it was given."""
    flow: Flow = Workflow("flow")
    node = flow.action(certain=(each for each in (ValueError,)), recovery="idempotent")(ok)
    flow.entry(node)
    flow.catch(node, flow.compute(name="other")(ok), on=(each for each in ("failed",)))
    assert flow.check() == []
    assert node.declaration.certain == (ValueError,)


def test_everything_is_found_at_once() -> None:
    """No odd option hides another one, of the same node or of the next."""
    flow: Flow = Workflow("flow", timeout=timedelta(-1))
    one = flow.agent(schema=3, label=4, by=5, retry=6, timeout=-1)(ok)
    flow.entry(one)
    flow.then(one, flow.compute(label=3, recovery="manual")(lambda: 1))
    found = flow.check()
    assert len(found) == 10, found
    assert all(isinstance(each, DefinitionError) and re.search(r"[.`…]$", each.fix) for each in found)
