"""The example with mistakes planted in it; each marked line, and no other, has to be found."""

from typing import Literal

from attrs import frozen

from runwright import Context, Workflow, minutes


@frozen
class Change:
    path: str


@frozen
class Verdict:
    verdict: Literal["clean", "issues"]
    notes: str = ""


review = Workflow("review-change", input=Change)


@review.shell(recovery="idempotent")
def diff(ctx: Context[Change]) -> list[str]:
    return ["git", "-C", ctx.input.pth, "diff"]  # expect-error: a misspelt input field


@review.agent(returns=Verdict, timeout=minutes(30))
def inspect_change(ctx: Context[Change]) -> str:
    return f"Review this change:\n{ctx.output(diff).stdotu}"  # expect-error: a wrong field of an output


@review.agent
def fix(ctx: Context[Change]) -> str:
    verdict: str = ctx.output(inspect_change)  # expect-error: an output of another type
    return verdict


@review.compute
def count(ctx: Context[Change]) -> int:
    return len(ctx.output(inspect_change, 7).notes)  # expect-error: a default of another type


@review.compute
def finish(ctx: Context[Change]) -> dict[str, int]:
    return {"visits": "many"}  # expect-error: a return that contradicts its annotation


review.entry(diff)
review.then(diff, inspect_change)
review.switch(inspect_change, {"clean": finish, "issues": "fix"}, on="$.verdict")  # expect-error: no place
review.then(fix, count)
