"""``runwright effect``: one side effect in full."""

import time

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading


@intent("effect", example="runwright effect 9f3c21\nrunwright effect 9f3c21 --values")
@click.argument("effect")
@click.option("--values", is_flag=True, help="Its private request and result, too.")
def command(call: Invocation, effect: str, values: bool) -> None:
    """One side effect in full.

    What it is, how often it was tried, how sure we are of it, and what settles it.
    """
    from runwright.cli.references import find_effect

    with reading(call) as store:
        found = store.effect(find_effect(call, store, effect))
    if call.out.for_machines:
        call.out.document(found.document() if values else found.effect.document())
        return
    from runwright.cli.rendering.effects import effect_screen

    call.out.show(*effect_screen(found, time.time_ns() // 1000, values=values))
