"""Asks people: once in the root, and once inside a mounted child."""

from typing import Any, Literal

from attrs import frozen

from runwright import Context, Json, Workflow


@frozen
class Plan:
    """What to do."""

    number: int = 1
    end: Literal["fine", "failed", "timed_out"] = "fine"


@frozen
class Verdict:
    """What somebody says about it."""

    word: Literal["yes", "no"]


asking = Workflow("asking", input=Plan)


@asking.compute
def draft(ctx: Context[Plan]) -> int:
    """Draft, and say so in the ledger."""
    _note(ctx, "draft")
    return ctx.input.number * 10 + ctx.visits(draft)


@asking.checkpoint(summary="Is this draft right?", returns=Verdict)
def approve(ctx: Context[Plan]) -> Json:
    """Show the draft."""
    return ctx.output(draft)


@asking.action(recovery="idempotent")
def gated(ctx: Context[Plan]) -> int:
    """Act on what was approved."""
    _note(ctx, "gated")
    return ctx.output(draft)


asking.entry(draft)
asking.then(draft, approve)
asking.switch(approve, {"yes": gated, "no": draft}, on="$.word")

nested = Workflow("nested", input=Plan)
child = nested.include("child", asking, input=lambda ctx: ctx.input)
acted = asking.exit("acted", gated)


@nested.compute
def report(ctx: Context[Plan]) -> list[Any]:
    """Report what the child came to."""
    return [ctx.output(child[acted]), ctx.visits(child)]


nested.entry(child)
nested.then(child[acted], report)

ending = Workflow("ending", input=Plan, timeout=lambda ctx: 0.3 if ctx.input.end == "timed_out" else None)


@ending.checkpoint(summary="How does it end?")
def ask(ctx: Context[Plan]) -> None:
    """Ask how it ends."""


@ending.compute
def follow(ctx: Context[Plan]) -> Json:
    """End as somebody said."""
    word = ctx.output(ask)
    if word == "fail":
        raise ValueError("somebody wanted it so")
    return word


ending.entry(ask)
ending.then(ask, follow)


def _note(ctx: Context[Any], name: str) -> None:
    with (ctx.cwd / "ledger").open("a") as ledger:
        ledger.write(f"{name}\n")
