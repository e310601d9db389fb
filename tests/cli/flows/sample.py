"""A workflow with a node of each kind that the command line shows, and an effect that can be made uncertain."""

import sys
from pathlib import Path
from typing import Literal

from attrs import frozen

from runwright import Context, Uncertain, Workflow


@frozen
class Order:
    """What to do."""

    task: str
    count: int = 1
    mode: Literal["fine", "fail", "doubt", "wait"] = "fine"


sample = Workflow("sample", input=Order)


@sample.compute
def plan(ctx: Context[Order]) -> list[int]:
    """Count."""
    ctx.log.info("planning %s", ctx.input.task)
    return list(range(ctx.input.count))


@sample.shell(recovery="idempotent")
def measure(ctx: Context[Order]) -> list[str]:
    """Print a number."""
    return [sys.executable, "-c", f"print({len(ctx.output(plan))})"]


@sample.compute
def choose(ctx: Context[Order]) -> str:
    """Route by the mode."""
    if ctx.input.mode == "fail":
        raise ValueError("nothing goes")
    return ctx.input.mode


@sample.action
def deliver(ctx: Context[Order]) -> str:
    """Write a line; in doubt, say that nobody can tell."""
    with Path("ledger.txt").open("a") as file:
        file.write(f"{ctx.run_id}\n")
    if ctx.input.mode == "doubt":
        raise Uncertain("the line dropped")
    return f"delivered {ctx.input.task}"


sample.entry(plan)
sample.then(plan, measure)
sample.then(measure, choose)
sample.switch(choose, {"fine": deliver, "doubt": deliver}, default=deliver)
