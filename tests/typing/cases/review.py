"""Review a change until it is clean."""
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
    return ["git", "-C", ctx.input.path, "diff", "--stat"]

@review.agent(returns=Verdict, timeout=minutes(30))
def inspect_change(ctx: Context[Change]) -> str:
    return f"Review this change:\n{ctx.output(diff).stdout}"

@review.agent
def fix(ctx: Context[Change]) -> str:
    return f"Fix these issues: {ctx.output(inspect_change).notes}"

@review.compute
def finish(ctx: Context[Change]) -> dict[str, int]:
    return {"visits": ctx.visits(inspect_change)}

@review.compute
def give_up(ctx: Context[Change]) -> dict[str, str]:
    return {"verdict": "not clean"}

review.entry(diff)
review.then(diff, inspect_change)
review.switch(inspect_change, {"clean": finish, "issues": fix}, on="$.verdict")
review.catch(inspect_change, give_up)
review.then(fix, diff)
review.limit(fix, visits=5, to=give_up)
