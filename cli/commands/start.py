"""``runwright start``: commit the queued run, print its ID, return."""

import re
from collections.abc import Sequence
from pathlib import Path

import rich_click as click

from runwright.cli.command import intent, takes_store
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.launching import check_launch, launch_options
from runwright.cli.sessions import session_option

_KEY = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@intent("start", example="runwright start review -s path=. --key nightly-2026-01-31\nrunwright resume @last")
@launch_options
@click.option("--key", metavar="KEY", help="The same KEY with the same start answers with the first one's run.")
@session_option
@takes_store
def command(
    call: Invocation,
    workflow: str,
    task: str | None,
    base: str | None,
    fields: Sequence[str],
    agents: Sequence[str],
    key: str | None,
    session: str | None,
) -> None:
    """Queue a run durably, print its ID and return.

    `resume` drives it.
    """
    import os

    from runwright.cli.holding import ask, holding
    from runwright.cli.rendering.endings import queued_lines
    from runwright.engine.embedded.code import Starting
    from runwright.engine.embedded.preflight import Surroundings, prepare, queue_command
    from runwright.engine.identity import new_id

    if key is not None and not _KEY.fullmatch(key):
        raise Refused.usage("KEY is up to 128 letters, digits and . _ : -", "Example: --key nightly-2026-01-31")
    launch = check_launch(call, workflow=workflow, task=task, base=base, fields=fields, agents=agents)
    surroundings = Surroundings(cwd=Path.cwd(), project=launch.project, pass_env=call.settings.names("pass_env"))
    wanted = surroundings.wanted(launch.reference, launch.project)
    kinds = {name: type(agent).__name__ for name, agent in launch.agents.items()}
    with holding(call) as holder:
        starting = Starting(wanted=wanted, run_id=new_id(holder.clock.now(), os.urandom), agents=kinds)
        queued = queue_command(prepare(launch.driven, starting, launch.value, typed=False), starting, session=session)
        run_id = str(ask(holder, queued, key=key).value)
    name = launch.driven.program.definition.workflow
    if call.out.for_machines:
        call.out.document({"action": "start", "workflow": name, "run_id": run_id, "queued": True})
        return
    call.out.data(run_id)
    call.out.say(*queued_lines(name, run_id, session))
