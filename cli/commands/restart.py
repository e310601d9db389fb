"""``runwright restart``: a fresh run of an ended run's workflow and input."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.agent_specs import build_agents, collect_specs
from runwright.cli.command import intent, takes_store
from runwright.cli.invocation import Invocation, user_folder
from runwright.cli.opening import reading

if TYPE_CHECKING:
    from runwright.engine.agents.agent import Agent


@intent("restart", example="runwright restart @last\nrunwright restart 7k2m3x --at publish")
@click.argument("run")
@click.option("--at", metavar="NODE", help="Begin at NODE, with what had finished before the run last came to it.")
@click.option("--agent", "agents", multiple=True, metavar="[NAME=]SPEC", help="Who answers agent nodes, as for `run`.")
@takes_store
def command(call: Invocation, run: str, at: str | None, agents: Sequence[str]) -> None:
    """A fresh run of an ended run's workflow and input.

    From the first node, with nothing of the run that ended; or with --at from a node of it. Prints the new run's ID;
    `resume` drives it.
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
    new_run = asyncio.run(_restart(call, run_id, at, build_agents(specs, call.asking)))
    if call.out.for_machines:
        queued = {"action": "restart", "workflow": ended.workflow, "run_id": new_run, "queued": True}
        call.out.document({**queued, "parent_run_id": run_id})
        return
    call.out.data(new_run)
    call.out.say(*queued_lines(ended.workflow, new_run, ended.session))


async def _restart(call: Invocation, run_id: str, at: str | None, agents: "Mapping[str, Agent]") -> str:
    from runwright.cli.holding import refuse_held
    from runwright.engine.embedded.async_engine import AsyncEngine
    from runwright.eventstore.errors import StoreInUse

    try:
        opened = AsyncEngine.open(
            call.home,
            agents=agents,
            client="cli",
            user=user_folder(),
            unsafe_filesystem=call.flags.unsafe_filesystem,
        )
        async with opened as engine:
            return await engine.restart(run_id, at=at, drive=False)
    except StoreInUse as error:
        refuse_held(error)
