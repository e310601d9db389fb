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

    A run at work stops behind the step it is at; one that waits is paused at once. `resume` carries it on.
    """
    from runwright.cli.steering import steer

    return steer(call, "pause", runs, lambda changes, run_id: changes.pause(run_id))
