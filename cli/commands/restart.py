"""``runwright restart``: a fresh run of an ended run's workflow and input."""

import rich_click as click

from runwright.cli.agent_specs import agent_option
from runwright.cli.changing import changing
from runwright.cli.command import intent, takes_store
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading


@intent("restart", example="runwright restart @last\nrunwright restart 7k2m3x --at publish")
@click.argument("run")
@click.option("--at", metavar="NODE", help="Begin at NODE, with what had finished before the run last came to it.")
@agent_option()
@takes_store
def command(call: Invocation, run: str, at: str | None) -> None:
    """A fresh run of an ended run's workflow and input.

    From the first node, with nothing of the run that ended; or with --at from a node of it. Prints the new run's ID.
    Where a host lives it goes on by itself, else `resume` drives it.
    """
    from runwright.cli.handing import Bound, Handed
    from runwright.cli.naming_runs import runs_of
    from runwright.cli.rendering.endings import queued_lines

    with runs_of(call, staying=True) as known:
        ended = known.find(run)
        run_id = str(ended["run_id"])
        if at is not None:
            at = _beginning(call, run_id, at)
        handed = Handed.of(call, Bound.of([known.bindings(run_id)]))
        with changing(call, known.client, handed) as changes:
            new_run, driven = changes.restart(run_id, at=at, agents=handed.agents).run_id, changes.drives
    workflow = str(ended["workflow"])
    if call.out.for_machines:
        queued = {"action": "restart", "workflow": workflow, "run_id": new_run, "queued": True}
        call.out.document({**queued, "parent_run_id": run_id})
        return
    call.out.data(new_run)
    if driven:
        line = None
    else:
        with reading(call) as store:
            line = store.status(new_run).resume_line
    call.out.say(*queued_lines(workflow, new_run, ended["session"], drive=line))


def _beginning(call: Invocation, run_id: str, at: str) -> str:
    """The node to begin at, held against the definition that the run has saved."""
    from runwright.cli.references import find_beginning

    with reading(call) as store:
        return find_beginning(store, run_id, at)
