"""A workflow with a node of every kind that something stands in for in a test, and what fits it."""

from typing import Any

from attrs import frozen

from runwright import Choice, Context, JsonObject, Question, Workflow, days, minutes


@frozen
class Word:
    """What the agent says."""

    word: str


talk = Workflow("talk", input=JsonObject)


@talk.agent(returns=Word, timeout=minutes(10))
def ask(ctx: Context[JsonObject]) -> str:
    """Ask for a word."""
    return "Say a word."


@talk.decision(choices=["yes", Choice("no", text="Why not?")], deadline=days(7), on_timeout="no")
def ship(ctx: Context[JsonObject]) -> Question:
    """Ask a person."""
    return Question("Ship it?")


@talk.action(request=lambda ctx: ctx.output(ask).word, recovery="idempotent")
def push(ctx: Context[JsonObject], request: object) -> int:
    """Send it."""
    raise AssertionError("no effect happens in a test that does not ask for it")


@talk.shell(recovery="idempotent")
def build(ctx: Context[JsonObject]) -> list[str]:
    """Build it."""
    return ["true"]


@talk.checkpoint(summary="May it go on?", returns=int)
def gate(ctx: Context[JsonObject]) -> None:
    """Stop here."""


@talk.compute
def end(ctx: Context[JsonObject]) -> int:
    """What was answered."""
    return ctx.output(gate)


talk.entry(ask)
talk.then(ask, ship)
talk.then(ship, push)
talk.then(push, build)
talk.then(build, gate)
talk.then(gate, end)

GOOD: dict[str, dict[Any, Any]] = {
    "agents": {ask: [Word("soft")]},
    "decisions": {ship: ["yes"], gate: [1]},
    "effects": {push: [7], build: ["built"]},
}


def given(**changed: dict[Any, Any]) -> dict[str, Any]:
    """What fits the workflow, but for what is changed."""
    return {argument: {**stand_ins, **changed.get(argument, {})} for argument, stand_ins in GOOD.items()}
