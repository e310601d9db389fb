"""Asks a person in the middle, and fails in the end where the person wants that."""

from typing import Literal

from attrs import frozen

from runwright import Context, Json, Workflow


@frozen
class Change:
    """What to review."""

    name: str = "change"


@frozen
class Verdict:
    """What somebody says about it."""

    word: Literal["yes", "no"]
    note: str = ""


review = Workflow("review", input=Change)


@review.compute
def draft(ctx: Context[Change]) -> str:
    """Write a draft."""
    return f"draft of {ctx.input.name}"


@review.checkpoint(summary="May the draft go out?", returns=Verdict)
def approve(ctx: Context[Change]) -> Json:
    """Show the draft."""
    return {"draft": ctx.output(draft)}


@review.compute
def publish(ctx: Context[Change]) -> str:
    """Publish it."""
    if ctx.output(approve).word == "no":
        raise ValueError("nobody wants it")
    return f"{ctx.output(draft)}: {ctx.output(approve).note}"


review.entry(draft)
review.then(draft, approve)
review.then(approve, publish)
