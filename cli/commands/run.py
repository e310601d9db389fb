"""``runwright run``: start a run and show it until it ends; the output last, on stdout."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent, takes_store
from runwright.cli.invocation import Invocation
from runwright.cli.launching import Launch, check_launch, launch_options
from runwright.cli.sessions import session_option

if TYPE_CHECKING:
    from runwright.cli.driving import Driven
    from runwright.cli.hosted_starts import HostedStart
    from runwright.engine.embedded.async_engine import AsyncEngine


@intent("run", example="runwright run examples/repo_report.py -s path=.\nrunwright run review 'Review the last commit'")
@launch_options
@click.option("--timeout", metavar="T", help="Show it no longer than this; exits 5, and the run goes on.")
@click.option("--inline", is_flag=True, help="Drive it in this process, without a host; it stops with this process.")
@click.option("--dry-run", is_flag=True, help="Check everything that a start checks, and start nothing.")
@click.option("--no-output", is_flag=True, help="Leave the output out.")
@session_option
@takes_store
def command(
    call: Invocation,
    workflow: str,
    task: str | None,
    base: str | None,
    fields: Sequence[str],
    timeout: str | None,
    inline: bool,
    dry_run: bool,
    no_output: bool,
    session: str | None,
) -> int:
    """Start a run and show it until it ends.

    The output comes last, on stdout. WORKFLOW is a file, a name or an import path; TASK fills the input's field
    `task`. The host drives it; where none lives, one is started in the background. The first Ctrl-C pauses the run
    at its next step and keeps showing it, the second leaves; `resume` carries it on.
    """
    from runwright.cli.durations import parse_duration
    from runwright.cli.results import report

    seconds = None if timeout is None else parse_duration(timeout, "--timeout")
    if dry_run:
        launch = check_launch(call, workflow=workflow, task=task, base=base, fields=fields)
        _say_dry(call, launch)
        return 0
    if inline:
        launch = check_launch(call, workflow=workflow, task=task, base=base, fields=fields)
        driven = _inline(call, launch, workflow, session, seconds)
    else:
        from runwright.cli.hosted_starts import HostedStart

        given = HostedStart.of(call, workflow=workflow, task=task, base=base, fields=fields, session=session)
        driven = _hosted(call, given, seconds)
    return report(call, driven, with_output=not no_output)


def _hosted(call: Invocation, given: "HostedStart", seconds: float | None) -> "Driven":
    """Have the host drive it, and show it."""
    from runwright.cli.carrying import heeded_interrupts, show_hosted
    from runwright.cli.hosting import needed_host

    with needed_host(call) as client, heeded_interrupts() as interrupts:
        run_id = given.queue(call, client)
        if not call.out.for_machines and not call.out.at_terminal:  # there the graph says so itself
            _announce(call, str(client.run_status(run_id)["workflow"]), run_id)
        return show_hosted(call, client, [run_id], interrupts, timeout=seconds)


def _inline(call: Invocation, launch: Launch, workflow: str, session: str | None, seconds: float | None) -> "Driven":
    """Drive it in this process, and show it."""
    from runwright.cli.driving import drive

    async def begin(engine: "AsyncEngine") -> list[str]:
        from runwright.engine.embedded.preflight import Surroundings

        surroundings = Surroundings(cwd=Path.cwd(), project=launch.project, pass_env=call.settings.names("pass_env"))
        assert isinstance(launch.value, dict), "a workflow's input is an object"
        run_id = await engine.start(workflow, launch.value, session=session, surroundings=surroundings)
        if not call.out.for_machines and not call.out.at_terminal:
            _announce(call, launch.driven.program.definition.workflow, run_id)
        return [run_id]

    return drive(call, launch.agents, begin, timeout=seconds)


def _announce(call: Invocation, workflow: str, run_id: str) -> None:
    from rich.text import Text

    from runwright.cli.rendering.marks import QUIET
    from runwright.cli.rendering.text import clean

    call.out.say(Text.assemble((clean(workflow), "bold"), (f"  {run_id}", QUIET)))


def _say_dry(call: Invocation, launch: Launch) -> None:
    definition = launch.driven.program.definition
    if call.out.for_machines:
        call.out.document(
            {"action": "run", "workflow": definition.workflow, "dry_run": True, "nodes": len(definition.nodes)}
        )
        return
    call.out.say(f"{definition.workflow} could be started; nothing was.")
