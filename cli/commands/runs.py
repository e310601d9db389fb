"""``runwright runs``: the table, newest first."""

import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading, reading_if_any
from runwright.cli.pages import print_list
from runwright.cli.texts import WholeNumber
from runwright.projections.views.statuses import STATUSES

if TYPE_CHECKING:
    from runwright.engine.reading.pages import RunsPage
    from runwright.engine.reading.reader import Reader

#: The ID of a run: ten characters of time and ten of its own.
_CURSOR = re.compile(r"0[0-9a-z]{19}")


@intent("runs", example="runwright runs --status failed --since 7d\nrunwright runs --follow", lines=True)
@click.option(
    "--status",
    "statuses",
    multiple=True,
    metavar="S",
    type=click.Choice(STATUSES),
    help=f"Only runs of this status: {', '.join(STATUSES)}.",
)
@click.option("--workflow", metavar="W", help="Only runs of this workflow.")
@click.option("--since", metavar="T", help="Only runs queued since then: 2h, 7d, 2026-01-31.")
@click.option("--limit", type=WholeNumber(1, 100_000), default=20, metavar="N", help="At most N runs.")
@click.option("--cursor", metavar="C", help="The `next` of the page before.")
@click.option("--follow", is_flag=True, help="Go on with what changes.")
def command(
    call: Invocation,
    statuses: Sequence[str],
    workflow: str | None,
    since: str | None,
    limit: int,
    cursor: str | None,
    follow: bool,
) -> None:
    """List runs, newest first."""
    from runwright.cli.durations import parse_since

    if cursor is not None and not _CURSOR.fullmatch(cursor):
        raise Refused.usage("--cursor is none of a page of `runwright runs`.", "Take the `next` of the page before.")
    begin = None if since is None else parse_since(since, "--since", time.time_ns() // 1000)
    if follow:
        if call.out.as_json:
            raise Refused.usage("--follow never ends, and --json is one document.", "Use --jsonl with --follow.")
        with reading(call) as store:
            _follow(call, store, statuses, workflow, begin, limit)
        return
    with reading_if_any(call) as store_if_any:
        page = None
        if store_if_any is not None:
            page = store_if_any.runs(statuses=statuses, workflow=workflow, since=begin, limit=limit, cursor=cursor)
    _show(call, page)


def _show(call: Invocation, page: "RunsPage | None") -> None:
    items = [] if page is None else page.items
    following = None if page is None else page.next
    if call.out.for_machines:
        position = 0 if page is None else page.position
        print_list(call.out, [each.document() for each in items], position=position, following=following)
        return
    if not items:
        call.out.say("No runs.")
        return
    from runwright.cli.rendering.statuses import runs_table, stuck_lines

    now = time.time_ns() // 1000
    call.out.show(runs_table(items, now))
    call.out.say(*stuck_lines(items, now))
    if following is not None:
        call.out.say(f"There are more: --cursor {following}, or a larger --limit")


def _follow(
    call: Invocation, store: "Reader", statuses: Sequence[str], workflow: str | None, begin: int | None, limit: int
) -> None:
    """Show each run again whenever it changes."""
    from runwright.cli.following import told
    from runwright.cli.rendering.statuses import runs_line

    seen: dict[str, str] = {}
    with told(call, store.log, store.head().position) as news:
        while True:
            page = store.runs(statuses=statuses, workflow=workflow, since=begin, limit=limit)
            for each in reversed(page.items):
                state = f"{each.status} {each.reason} {each.node} {each.visit}"
                if seen.get(each.run_id) == state:
                    continue
                seen[each.run_id] = state
                if call.out.as_lines:
                    call.out.lines([each.document()])
                else:
                    call.out.show(runs_line(each, time.time_ns() // 1000))
            if news.next() is None:
                return
            while news.next(timeout=0) is not None:
                pass
