"""Needs what no store keeps, an executor and a variable, before and behind a person's decision."""

import os
from typing import Any

from runwright import Context, Workflow

handed = Workflow("handed")


@handed.agent(returns=str)
def first(ctx: Context[Any]) -> str:
    """Ask the executor."""
    return "Say something."


@handed.decision(choices=["yes", "no"])
def agree(ctx: Context[Any]) -> str:
    """Ask a person."""
    return "Go on?"


@handed.agent(returns=str)
def again(ctx: Context[Any]) -> str:
    """Ask the executor once more."""
    return "Say something else."


@handed.compute
def look(ctx: Context[Any]) -> str:
    """Use the variable."""
    return f"{len(os.environ['TOKEN'])} {ctx.output(again)}"


handed.entry(first)
handed.then(first, agree)
handed.then(agree, again)
handed.then(again, look)
