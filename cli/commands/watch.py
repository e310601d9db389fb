"""``runwright watch``: what runs and waits, or one run's graph, live."""

import shlex
import time
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.endings import code_of_status
from runwright.cli.failures import INTERRUPTED, OK, Refused
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading

if TYPE_CHECKING:
    from runwright.cli.showing import Told
    from runwright.engine.reading.reader import Reader
    from runwright.engine.reading.status import Status

_LIVE = ("queued", "running", "waiting", "paused", "ambiguous")
_ENDED = ("completed", "failed", "timed_out", "cancelled")
#: How many runs the overview has, the newest first, and how many that ended lately.
_MOST, _LATELY = 200, 3
#: The least seconds between two frames, and the most.
_PAUSE, _TICK = 0.1, 1.0


@intent("watch", example="runwright watch\nrunwright watch @last", lines=True)
@click.argument("run", required=False)
def command(call: Invocation, run: str | None) -> int:
    """What runs and what waits, live; or one run's graph until it has ended.

    Ctrl-C leaves, and the runs go on. Follows continued runs.
    """
    if call.out.as_json:
        raise Refused.usage("`watch` goes on, and --json is one document.", "Use --jsonl, or `runwright status`.")
    try:
        with reading(call) as store:
            return _overview(call, store) if run is None else _one(call, store, run)
    except KeyboardInterrupt:
        if call.out.for_machines:
            raise
        line = "runwright watch" if run is None else f"runwright watch {shlex.quote(run)}"
        call.out.say(f"Nothing was stopped. Watch again with: {line}")
        return INTERRUPTED


def _one(call: Invocation, store: "Reader", run: str) -> int:
    from runwright.cli.following import follow, told
    from runwright.cli.references import find_run
    from runwright.cli.rendering.statuses import entry
    from runwright.cli.showing import screen

    run_id = store.last_of_chain(find_run(call, store, run))
    after = store.head().position
    seen: list[Status] = []

    def look(found: "list[Status]") -> bool:
        status, before = found[0], seen[0] if seen else None
        seen[:] = found
        if call.out.as_lines:
            if status != before:
                call.out.lines([status.document()])
        elif not call.out.at_terminal and status.reason not in (None, before and before.reason):
            # A screen shows why a run stands still; where there is none it is said, and what to type.
            call.out.say(*entry(status, time.time_ns() // 1000))
        return True

    with told(call, store.log, after) as news, screen(call, store, [run_id], after) as feeder:
        if feeder is not None:
            feeder.progress.note("Ctrl-C leaves, and the run goes on" if call.out.at_terminal else "")
        (status,) = follow(store, [run_id], news, feeder, rests=lambda each: each.ended, look=look)
        if feeder is not None:
            feeder.progress.note("")
    if not call.out.for_machines:
        from runwright.cli.rendering.endings import ending_lines

        call.out.say(*ending_lines(status, time.time_ns() // 1000))
    return code_of_status(status.run_status)


def _overview(call: Invocation, store: "Reader") -> int:
    from runwright.cli.following import told

    with told(call, store.log, store.head().position) as news:
        if call.out.for_machines or not call.out.stdout.isatty():
            _as_lines(call, store, news)
        else:
            _on_screen(call, store, news)
    return OK


def _as_lines(call: Invocation, store: "Reader", news: "Told") -> None:
    """A line, or a document, for each run that lives and whenever one changes."""
    from runwright.cli.rendering.statuses import runs_line

    seen: dict[str, str] = {}
    while True:
        live = store.runs(statuses=_LIVE, limit=_MOST).items
        for each in [*reversed(live), *(store.status(gone) for gone in seen.keys() - {each.run_id for each in live})]:
            state = f"{each.status} {each.reason} {each.node} {each.visit}"
            if seen.get(each.run_id) == state:
                continue
            seen[each.run_id] = state
            call.out.lines([each.document()]) if call.out.as_lines else call.out.show(
                runs_line(each, time.time_ns() // 1000)
            )
            if each.ended:
                del seen[each.run_id]
        call.out.stdout.flush()
        _until_news(news)


def _on_screen(call: Invocation, store: "Reader", news: "Told") -> None:
    """The overview of `status`, drawn again whenever something changed, and once a second for its times."""
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    from runwright.cli.rendering.marks import QUIET
    from runwright.cli.rendering.statuses import overview

    with Live(console=call.out.console(stderr=False), auto_refresh=False, transient=False) as live:
        while True:
            page = store.runs(statuses=_LIVE, limit=_MOST)
            ended = store.runs(statuses=_ENDED, limit=_LATELY).items
            parts = overview(page.items, time.time_ns() // 1000, ended=ended)
            more = [Text(f"and more; the newest {_MOST} are shown", style=QUIET)] if page.next else []
            live.update(Group(*parts, *more, Text("Ctrl-C leaves", style=QUIET)), refresh=True)
            _until_news(news, timeout=_TICK)


def _until_news(news: "Told", timeout: float | None = None) -> None:
    """Wait until something was committed, and take all of it at once."""
    found = news.next(timeout=timeout)
    while found is not None:
        found = news.next(timeout=0)
    time.sleep(_PAUSE)  # many small changes are one frame
