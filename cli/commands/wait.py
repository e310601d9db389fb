"""``runwright wait``: until a run has ended, for the exit code alone."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.durations import parse_duration
from runwright.cli.endings import code_of_status, worst
from runwright.cli.failures import OK
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.pages import print_list

if TYPE_CHECKING:
    from rich.console import RenderableType

    from runwright.engine.reading.reader import Reader
    from runwright.engine.reading.status import Status

#: The longest wait for news (seconds): whoever drives a run may be gone without a word.
_LOOK = 1.0
_HELD = frozenset({"paused", "ambiguous"})


@intent("wait", example="runwright wait @last --timeout 10m && echo done")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--until",
    type=click.Choice(["finished", "waiting"]),
    default="finished",
    help="waiting: or until it needs somebody.",
)
@click.option("--timeout", metavar="T", help="Wait no longer than this; exits 5.")
def command(call: Invocation, runs: Sequence[str], until: str, timeout: str | None) -> int:
    """Wait until runs have ended; the exit code says how.

    Follows continued runs, and prints nothing; what nothing here carries on is said on stderr, with what to type.
    """
    from runwright.cli.references import find_run

    seconds = None if timeout is None else parse_duration(timeout, "--timeout")
    deadline = None if seconds is None else time.monotonic() + seconds
    with reading(call) as store:
        ids = [find_run(call, store, run) for run in runs]
        found = _wait(call, store, ids, until, deadline)
    if call.out.as_json:
        documents = [each.document() for each in found]
        if len(runs) == 1:
            call.out.document(documents[0])
        else:
            print_list(call.out, documents, position=max(each.position for each in found))
    return worst(OK if until == "waiting" and _rests(each) else code_of_status(each.run_status) for each in found)


def _wait(call: Invocation, store: "Reader", ids: Sequence[str], until: str, deadline: float | None) -> "list[Status]":
    from runwright.cli.chains import last_of_chain
    from runwright.cli.following import told

    said: set[str] = set()
    with told(call, store.log, store.head().position) as news:
        while True:
            found = [store.status(last_of_chain(store, run_id)) for run_id in ids]
            open_ones = [each for each in found if not (each.ended or (until == "waiting" and _rests(each)))]
            for each in open_ones:
                if not each.driven and each.run_id not in said:
                    said.add(each.run_id)
                    call.out.say(*_undriven(each))
            left = None if deadline is None else deadline - time.monotonic()
            if not open_ones or (left is not None and left <= 0):
                return found
            news.next(timeout=_LOOK if left is None else min(_LOOK, left))
            while news.next(timeout=0) is not None:
                pass


def _undriven(status: "Status") -> "list[RenderableType]":
    """Say that nothing carries a run on as things are, why, and what to type in another terminal."""
    from rich.text import Text

    from runwright.cli.rendering.reasons import why
    from runwright.cli.rendering.statuses import next_lines
    from runwright.cli.rendering.text import clean

    reason = why(status, time.time_ns() // 1000)
    lines = status.next[:1]
    told = f"Nothing drives run {status.run_id} now{f': {clean(reason)}' if reason else ''}."
    return [Text(f"{told}{' In another terminal:' if lines else ''}"), *next_lines(lines)]


def _rests(status: "Status") -> bool:
    """Whether a run needs somebody, or time, before it goes on; one that was just answered is about to."""
    if status.ended or status.status in _HELD:
        return True
    goes_on = status.eligible and status.driven
    return not goes_on and (status.status == "waiting" or status.queue_state == "parked")
