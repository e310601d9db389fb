"""``runwright events``: read the log."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading, reading_events
from runwright.cli.texts import WholeNumber
from runwright.engine.near import near

if TYPE_CHECKING:
    from runwright.cli.showing import Told
    from runwright.eventstore.envelope import RecordedEvent
    from runwright.eventstore.reader import LogReader

#: How many events a page holds where nobody says how many.
_PAGE = 500


@intent("events", example="runwright events @last\nrunwright events --type 'run.*' --jsonl -f", lines=True)
@click.argument("run", required=False)
@click.option("--type", "glob", metavar="GLOB", help="Only events of these types: run.*, node.finished.")
@click.option("--after", type=WholeNumber(0, 2**63 - 1), default=0, metavar="N", help="Begin after position N.")
@click.option("--limit", type=WholeNumber(1, 10_000_000), metavar="N", help="At most N events.")
@click.option("-f", "--follow", is_flag=True, help="Go on with new events as they come.")
@click.option("--values", is_flag=True, help="Private values, too: inputs, prompts, outputs, errors.")
def command(
    call: Invocation, run: str | None, glob: str | None, after: int, limit: int | None, follow: bool, values: bool
) -> None:
    """Read the log, oldest first.

    --jsonl prints the lines of a native export unchanged.
    """
    if follow and call.out.as_json:
        raise Refused.usage("--follow never ends, and --json is one document.", "Use --jsonl with --follow.")
    types = None if glob is None else _types(glob)
    with ExitStack() as stack:
        if run is None:
            log, streams = stack.enter_context(reading_events(call)), None
        else:
            from runwright.cli.references import find_run

            store = stack.enter_context(reading(call))
            log, streams = store.log, {f"run/{find_run(call, store, run)}"}
        if call.out.as_json:
            _page(call, log, after, types, streams, limit or _PAGE, values)
        elif follow:
            from runwright.cli.following import told

            news = stack.enter_context(told(call, log, after))
            _show(call, _followed(news, types, streams, limit), values)
        else:
            most = limit or (None if call.out.as_lines else _PAGE)
            last = _show(call, log.read_all(after, types=types, streams=streams, limit=most), values)
            if most is not None and limit is None and last is not None and _more(log, last, types, streams):
                call.out.say(f"There are more: --after {last}")


def _page(
    call: Invocation,
    log: "LogReader",
    after: int,
    types: set[str] | None,
    streams: set[str] | None,
    limit: int,
    values: bool,
) -> None:
    import json

    from runwright.eventstore.transfer.jsonl import write_event

    position = log.head().position
    found = list(log.read_all(after, types=types, streams=streams, limit=limit + 1, upto=position))
    items = [json.loads(write_event(each, with_values=values)) for each in found[:limit]]
    following = str(found[limit - 1].position) if len(found) > limit else None
    call.out.document({"items": items, "position": position, "next": following})


def _show(call: Invocation, events: "Iterator[RecordedEvent]", values: bool) -> int | None:
    from runwright.cli.rendering.text import escape_json

    last = None
    if call.out.as_lines:
        from runwright.eventstore.transfer.jsonl import write_event

        at_terminal = call.out.stdout.isatty()
        for each in events:
            line = write_event(each, with_values=values).decode()
            call.out.raw(escape_json(line.rstrip("\n")) + "\n" if at_terminal else line)
            call.out.stdout.flush()
            last = each.position
        return last
    from runwright.cli.rendering.events import event_line, value_lines

    for each in events:
        now = time.time_ns() // 1000
        call.out.show(event_line(each, now), *(value_lines(each) if values else ()))
        last = each.position
    return last


def _followed(
    news: "Told", types: set[str] | None, streams: set[str] | None, limit: int | None
) -> "Iterator[RecordedEvent]":
    left = limit
    while (each := news.next()) is not None:
        if (types is None or each.type in types) and (streams is None or each.stream in streams):
            yield each
            left = None if left is None else left - 1
            if left == 0:
                return


def _more(log: "LogReader", last: int, types: set[str] | None, streams: set[str] | None) -> bool:
    return next(log.read_all(last, types=types, streams=streams, limit=1), None) is not None


def _types(glob: str) -> set[str]:
    from runwright.eventstore.events.registry import REGISTRY

    found = {name for name in REGISTRY if fnmatchcase(name, glob)}
    if not found:
        raise Refused.usage(
            "No type of event fits --type.",
            f"{near(glob, REGISTRY)} `runwright events` shows the type of each; run.* is all of a kind.".strip(),
        )
    return found
