"""``runwright logs``: what user code wrote."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.failures import Refused
from runwright.cli.hosting import host_lives
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.rendering.text import clean

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader


@intent("logs", example="runwright logs @last\nrunwright logs 7k2m3x build -f", lines=True)
@click.argument("run")
@click.argument("node", required=False)
@click.option("-f", "--follow", is_flag=True, help="Go on until the run ends.")
def command(call: Invocation, run: str, node: str | None, follow: bool) -> None:
    """What a run's own code wrote: what it printed and logged, and the stderr of its commands.

    Each line with its time and its node. What a program that embeds the engine prints stays on its own streams.
    """
    from runwright.cli.references import find_node, find_run

    if follow and call.out.as_json:
        raise Refused.usage("--follow goes on, and --json is one document.", "Use --jsonl with --follow.")
    with reading(call) as store:
        run_id = find_run(call, store, run)
        if node is not None:
            find_node(store, run_id, node)
        if call.out.as_json:
            call.out.document({"run_id": run_id, "node": node, "lines": list(store.logs(run_id, node))})
            return
        if not follow:
            _print(call, store.logs(run_id, node))
        elif host_lives(call):
            from runwright.engine.client.client import Client

            with Client.connect(call.home, client="cli") as client, client.logs_subscribe(run_id, node=node) as lines:
                _print(call, lines)
        else:
            _print(call, _followed(store, run_id, node))


def _print(call: Invocation, lines: "Iterable[str]") -> None:
    for line in lines:
        call.out.lines([{"line": line}]) if call.out.as_lines else call.out.raw(clean(line) + "\n")
        call.out.stdout.flush()


def _followed(store: "Reader", run_id: str, node: str | None) -> "Iterator[str]":
    """The lines that are there and those that come, until the run has ended."""
    shown = 0
    with store.follow(store.head().position) as news:
        while True:
            ended = store.status(run_id).ended
            for number, line in enumerate(store.logs(run_id, node)):
                if number >= shown:
                    shown = number + 1
                    yield line
            if ended:
                return
            news.next(timeout=0.25)
