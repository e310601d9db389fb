"""Prints before and after a sign."""

import time
from typing import Any

from runwright import Context, Workflow

chatty = Workflow("chatty")


@chatty.compute
def talk(ctx: Context[Any]) -> int:
    """Print, wait for the sign, and print again."""
    print("early", flush=True)
    until = time.monotonic() + 90
    while not (ctx.cwd / "go").exists() and time.monotonic() < until:
        time.sleep(0.01)
    print("late", flush=True)
    return 1


chatty.entry(talk)
