"""``runwright effects``: side effects, and how sure we are of them."""

import time

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading_if_any
from runwright.cli.pages import print_list

_STATES = ("reserved", "applying", "applied", "rejected", "ambiguous", "cancelled")


@intent("effects", example="runwright effects --state ambiguous", lines=True)
@click.argument("run", required=False)
@click.option(
    "--state", type=click.Choice(_STATES), metavar="S", help=f"Only effects in this state: {', '.join(_STATES)}."
)
def command(call: Invocation, run: str | None, state: str | None) -> None:
    """Side effects, and how sure we are of them.

    Of one RUN, or of all. The ambiguous ones wait for you.
    """
    from runwright.cli.references import find_run

    with reading_if_any(call) as store:
        run_id = None if run is None or store is None else find_run(call, store, run)
        found = [] if store is None else store.effects(run_id, state=state)
        position = 0 if store is None else store.head().position
    if call.out.for_machines:
        print_list(call.out, [each.document() for each in found], position=position)
    elif not found:
        call.out.say("No effects.")
    else:
        from runwright.cli.rendering.effects import effects_table

        call.out.show(effects_table(found, time.time_ns() // 1000))
