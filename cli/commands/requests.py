"""``runwright requests``: what waits for an answer."""

import time

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading_if_any
from runwright.cli.pages import print_list


@intent("requests", example="runwright requests\nrunwright requests @last --json", lines=True)
@click.argument("run", required=False)
def command(call: Invocation, run: str | None) -> None:
    """What waits for an answer, with the line to type.

    Of one RUN, or of all.
    """
    from runwright.cli.references import find_run

    with reading_if_any(call) as store:
        run_id = None if run is None or store is None else find_run(call, store, run)
        found = [] if store is None else store.requests(run_id)
        statuses = {} if store is None else {each: store.status(each) for each in {one.run_id for one in found}}
        position = 0 if store is None else store.head().position
    if call.out.for_machines:
        print_list(call.out, [each.document() for each in found], position=position)
    elif not found:
        call.out.say("Nothing waits for an answer.")
    else:
        from runwright.cli.rendering.questions import questions_screen

        call.out.show(*questions_screen(found, statuses, time.time_ns() // 1000))
