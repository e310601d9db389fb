"""``runwright status``: what runs, what waits for you, what is stuck; or one run's facts."""

import time

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading, reading_if_any
from runwright.cli.pages import print_list

_ENDED = ("completed", "failed", "timed_out", "cancelled")
#: How many runs that ended lately the overview shows.
_LATELY = 3


@intent("status", example="runwright status\nrunwright status @last\nrunwright status --session ID", lines=True)
@click.argument("run", required=False)
@click.option("--session", metavar="ID", help="The run that holds this session, else its latest.")
def command(call: Invocation, run: str | None, session: str | None) -> None:
    """What runs, what waits for you, what is stuck; or one run.

    Each comes with the line to type.
    """
    if run is None and session is None:
        _overview(call)
        return
    if run is not None and session is not None:
        raise Refused.usage("name a run or a session, not both", "Example: runwright status --session ID")
    from runwright.cli.references import find_run

    with reading(call) as store:
        status = store.status(find_run(call, store, run)) if run is not None else store.session_status(str(session))
    if call.out.for_machines:
        call.out.document(status.document())
        return
    from runwright.cli.rendering.statuses import run_facts

    call.out.show(*run_facts(status, time.time_ns() // 1000))


def _overview(call: Invocation) -> None:
    with reading_if_any(call) as store:
        page = None if store is None else store.live()
        ended = [] if store is None else store.runs(statuses=_ENDED, limit=_LATELY).items
    if call.out.for_machines:
        items = [] if page is None else [each.document() for each in page.items]
        print_list(call.out, items, position=0 if page is None else page.position)
        return
    if page is None:
        call.out.show("No run was ever started here. Begin with: runwright init")
        return
    from runwright.cli.rendering.statuses import overview

    call.out.show(*overview(page.items, time.time_ns() // 1000, ended=ended))
