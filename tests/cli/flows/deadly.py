"""A workflow whose only node ends its worker, each time."""

import os

from runwright import Context, JsonObject, Workflow

deadly = Workflow("deadly")


@deadly.compute
def die(ctx: Context[JsonObject]) -> int:
    """End the process at once."""
    os._exit(9)


deadly.entry(die)
