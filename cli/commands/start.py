"""``runwright start``: commit the queued run, print its ID, return."""

import re
from collections.abc import Sequence

import rich_click as click

from runwright.cli.command import intent, takes_store
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.launching import launch_options
from runwright.cli.sessions import session_option

_KEY = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@intent("start", example="runwright start review -s path=. --key nightly-2026-01-31\nrunwright watch @last")
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
    key: str | None,
    session: str | None,
) -> None:
    """Queue a run durably, print its ID and return.

    The host drives it; where none lives, one is started in the background.
    """
    from runwright.cli.hosted_starts import HostedStart
    from runwright.cli.hosting import needed_host

    if key is not None and not _KEY.fullmatch(key):
        raise Refused.usage("KEY is up to 128 letters, digits and . _ : -", "Example: --key nightly-2026-01-31")
    starting = HostedStart.of(call, workflow=workflow, task=task, base=base, fields=fields, session=session)
    with needed_host(call) as client:
        run_id = starting.queue(call, client, key=key)
        name = str(client.run_status(run_id)["workflow"])
    if call.out.for_machines:
        call.out.document({"action": "start", "workflow": name, "run_id": run_id, "queued": True})
        return
    call.out.data(run_id)
    if call.out.quiet:
        return
    from runwright.cli.rendering.endings import queued_lines

    call.out.say(*queued_lines(name, run_id, session, drive=None))
