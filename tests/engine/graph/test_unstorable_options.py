"""Texts of a definition that nothing could keep: each is named with its option, and none ends the check itself."""

from collections.abc import Callable
from typing import Any

import pytest

from runwright import Choice, Workflow
from support.faulty import ok

HALF = "caf\udce9"
Declare = Callable[[Workflow[Any]], Any]

OPTIONS: dict[str, Declare] = {
    "label": lambda flow: flow.compute(label=HALF)(ok),
    "schema": lambda flow: flow.agent(schema={"type": "string", "description": HALF})(ok),
    "by": lambda flow: flow.agent(by=HALF, returns=str)(ok),
    "effect": lambda flow: flow.action(effect=HALF, recovery="idempotent")(ok),
    "audience": lambda flow: flow.decision(choices=["a"], audience=HALF)(ok),
    "summary": lambda flow: flow.checkpoint(summary=HALF)(ok),
    "choices": lambda flow: flow.choose(choices=[HALF])(ok),
    "label of a choice": lambda flow: flow.decision(choices=[Choice("a", label=HALF)])(ok),
    "text of a choice": lambda flow: flow.decision(choices=[Choice("a", text=HALF)])(ok),
}


@pytest.mark.parametrize("declare", OPTIONS.values(), ids=OPTIONS)
def test_an_option_that_cannot_be_kept_is_named(declare: Declare, request: pytest.FixtureRequest) -> None:
    """`check` met an error of its own, and a start said that a process of its own had failed."""
    flow: Workflow[Any] = Workflow("flow")
    flow.entry(declare(flow))
    (found,) = [each for each in flow.check() if each.code == "option_invalid"]
    named = request.node.callspec.id
    option = "choices" if "choice" in named else named
    assert found.message == f"{option} of 'ok': the text has half of a character pair."


def test_instructions_that_cannot_be_kept_are_named() -> None:
    """The text that tells of an end is kept with the definition, too."""
    flow: Workflow[Any] = Workflow("flow", presentation=HALF)
    flow.entry(flow.compute(ok))
    (found,) = [each for each in flow.check() if each.code == "option_invalid"]
    assert found.message == "presentation: the text has half of a character pair."
