"""``runwright pause``: let no further node start."""

from collections.abc import Sequence

import rich_click as click

from runwright.cli.command import intent, takes_store
from runwright.cli.invocation import Invocation


@intent("pause", example="runwright pause 7k2m3x")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@takes_store
def command(call: Invocation, runs: Sequence[str]) -> int:
    """Let no further node of a run start.

    For runs that no process is driving. A run that another terminal drives is paused there, with Ctrl-C.
    """
    from runwright.cli.steering import steer
    from runwright.engine.commands.client import PauseRun

    return steer(call, "pause", runs, lambda run_id: PauseRun(run_id=run_id))
