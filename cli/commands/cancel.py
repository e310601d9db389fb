"""``runwright cancel``: end a run now."""

from collections.abc import Sequence

import rich_click as click

from runwright.cli.command import intent, takes_store
from runwright.cli.invocation import Invocation


@intent("cancel", example="runwright cancel 7k2m3x --reason 'started by mistake'")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--reason", default="", metavar="TEXT", help="Why; a private value of the run.")
@takes_store
def command(call: Invocation, runs: Sequence[str], reason: str) -> int:
    """End runs now, for good.

    Whatever they are doing: what is at work is stopped.
    """
    from runwright.cli.steering import steer

    return steer(call, "cancel", runs, lambda changes, run_id: changes.cancel(run_id, reason=reason))
