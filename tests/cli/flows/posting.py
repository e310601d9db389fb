"""A workflow whose one effect, which may be repeated, is under way until somebody lets it end."""

import time
from pathlib import Path

from runwright import Context, JsonObject, Workflow

posting: Workflow[JsonObject] = Workflow("posting")


@posting.action(recovery="idempotent")
def post(ctx: Context[JsonObject]) -> str:
    """Say that it is under way, then wait."""
    with (Path(ctx.cwd) / "ledger").open("a") as ledger:
        ledger.write("first\n")
    while not (Path(ctx.cwd) / "go").exists():
        time.sleep(0.01)
    return "posted"


posting.entry(post)
