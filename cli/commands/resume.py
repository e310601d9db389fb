"""``runwright resume``: carry runs on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.agent_specs import build_agents, collect_specs
from runwright.cli.command import intent, takes_store
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading

if TYPE_CHECKING:
    from runwright.engine.embedded.async_engine import AsyncEngine
    from runwright.engine.reading.reader import Reader


@intent("resume", example="runwright resume @last\nrunwright resume 7k2m3x --accept-source")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--accept-source", is_flag=True, help="Go on although the workflow's files have changed.")
@click.option("--agent", "agents", multiple=True, metavar="[NAME=]SPEC", help="Who answers agent nodes, as for `run`.")
@click.option("--timeout", metavar="T", help="Show it no longer than this; then it stops at its next step, exit 5.")
@click.option("--no-output", is_flag=True, help="Leave the output out.")
@takes_store
def command(
    call: Invocation,
    runs: Sequence[str],
    accept_source: bool,
    agents: Sequence[str],
    timeout: str | None,
    no_output: bool,
) -> int:
    """Carry runs on and show them until they end.

    Whether they are queued, paused, parked or were interrupted. No finished step runs twice. Ctrl-C works as in `run`.
    """
    from runwright.cli.bound_agents import bound_agents
    from runwright.cli.driving import drive
    from runwright.cli.durations import parse_duration
    from runwright.cli.references import find_run
    from runwright.cli.results import report

    seconds = None if timeout is None else parse_duration(timeout, "--timeout")
    with reading(call) as store:
        run_ids = list(dict.fromkeys(find_run(call, store, text) for text in runs))
        call.printed.settle()
        if accept_source:
            _show_changes(call, store, run_ids)
        specs = collect_specs(agents, call.settings, bound_agents(store, run_ids))

    async def begin(engine: "AsyncEngine") -> Sequence[str]:
        for run_id in run_ids:
            await resume_one(engine, run_id, accept_source=accept_source)
        if not call.out.for_machines:
            call.out.say(*(f"Carrying on {each}" for each in run_ids))
        return run_ids

    driven = drive(call, build_agents(specs, call.asking), begin, timeout=seconds)
    return report(call, driven, with_output=not no_output)


async def resume_one(engine: "AsyncEngine", run_id: str, *, accept_source: bool) -> None:
    """Drive a run here: one that waits for somebody is resumed, one that goes on by itself is only driven."""
    status = engine.reader.status(run_id)
    waits_for_time = status.queue_state == "parked" and status.reason is not None and status.reason.code == "waiting"
    if waits_for_time and status.status == "waiting" and not status.requests:
        await engine.drive(run_id)
    else:
        await engine.resume(run_id, accept_source=accept_source)


def _show_changes(call: Invocation, store: "Reader", run_ids: Sequence[str]) -> None:
    from runwright.cli.definitions import source_changes

    for run_id in run_ids:
        for line in source_changes(store, run_id):
            call.out.say(f"  {line}")
