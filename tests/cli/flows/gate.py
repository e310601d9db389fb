"""Two nodes; the first says that it runs and waits until it may go on."""

import time
from datetime import timedelta
from pathlib import Path

from attrs import frozen

from runwright import Context, Workflow, seconds


@frozen
class Gate:
    """How long the first node waits for its sign, and how long it is until the second one."""

    patience: float = 90.0
    rest: float = 0.05


gate = Workflow("gate", input=Gate)


@gate.compute
def first(ctx: Context[Gate]) -> str:
    """Run, and wait for the sign."""
    note(ctx, "first")
    until = time.monotonic() + ctx.input.patience
    while not (ctx.cwd / "go").exists() and time.monotonic() < until:
        time.sleep(0.01)
    return "first"


@gate.wait
def rest(ctx: Context[Gate]) -> timedelta:
    """Rest a moment."""
    return seconds(ctx.input.rest)


@gate.compute
def second(ctx: Context[Gate]) -> str:
    """Run after it."""
    note(ctx, "second")
    return "second"


def note(ctx: Context[Gate], name: str) -> None:
    """Write a line into the ledger, whatever becomes of the process."""
    with Path(ctx.cwd / "ledger").open("a") as ledger:
        ledger.write(f"{name}\n")


gate.entry(first)
gate.then(first, rest)
gate.then(rest, second)
