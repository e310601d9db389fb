"""``runwright restart``: a fresh run of an ended run's workflow and input."""

from collections.abc import Sequence

import rich_click as click

from runwright.cli.agent_specs import collect_specs
from runwright.cli.changing import changing
from runwright.cli.command import intent, takes_store
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading


@intent("restart", example="runwright restart @last\nrunwright restart 7k2m3x --at publish")
@click.argument("run")
@click.option("--at", metavar="NODE", help="Begin at NODE, with what had finished before the run last came to it.")
@click.option("--agent", "agents", multiple=True, metavar="[NAME=]SPEC", help="Who answers agent nodes, as for `run`.")
@takes_store
def command(call: Invocation, run: str, at: str | None, agents: Sequence[str]) -> None:
    """A fresh run of an ended run's workflow and input.

    From the first node, with nothing of the run that ended; or with --at from a node of it. Prints the new run's ID.
    Where a host lives it goes on by itself, else `resume` drives it.
    """
    from runwright.cli.bound_agents import bound_agents
    from runwright.cli.references import find_beginning, find_run
    from runwright.cli.rendering.endings import queued_lines

    with reading(call) as store:
        run_id = find_run(call, store, run)
        if at is not None:
            at = find_beginning(store, run_id, at)
        specs = collect_specs(agents, call.settings, bound_agents(store, [run_id]))
        ended = store.status(run_id)
    with changing(call) as changes:
        new_run, driven = changes.restart(run_id, at=at, agents=specs).run_id, changes.drives
    if call.out.for_machines:
        queued = {"action": "restart", "workflow": ended.workflow, "run_id": new_run, "queued": True}
        call.out.document({**queued, "parent_run_id": run_id})
        return
    call.out.data(new_run)
    call.out.say(*queued_lines(ended.workflow, new_run, ended.session, driven=driven))
