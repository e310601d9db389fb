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
    from runwright.engine.embedded.preflight import Surroundings, prepare
    from runwright.engine.identity import new_id

    if key is not None and not _KEY.fullmatch(key):
        raise Refused.usage("KEY is up to 128 letters, digits and . _ : -", "Example: --key nightly-2026-01-31")
    launch = check_launch(call, workflow=workflow, task=task, base=base, fields=fields, agents=agents)
    surroundings = Surroundings(cwd=Path.cwd(), project=launch.project, pass_env=call.settings.names("pass_env"))
    with holding(call) as holder:
        queued = prepare(
            launch.driven,
            launch.value,
            run_id=new_id(holder.clock.now(), os.urandom),
            agents=launch.agents,
            surroundings=surroundings,
            typed=False,
            session=session,
        )
        run_id = str(ask(holder, queued, key=key).value)
    name = launch.driven.program.definition.workflow
    if call.out.for_machines:
        call.out.document({"action": "start", "workflow": name, "run_id": run_id, "queued": True})
        return
    call.out.data(run_id)
    if session is not None:
        call.out.say(f"{name} is queued. It begins when session {session} next comes to rest.")
        return
    call.out.say(f"{name} is queued. Drive it with: runwright resume {run_id}")
