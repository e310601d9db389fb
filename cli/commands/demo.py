"""``runwright demo``: a real workflow, killed in the middle, recovered and replayed, in a temporary folder."""

import tempfile
import time
from pathlib import Path

from runwright.cli.command import intent
from runwright.cli.failures import ENDED_BADLY, OK
from runwright.cli.invocation import Invocation

_PLAN = """\
This runs a workflow that reports on a git repository, on a temporary copy
of {what}.
It starts a host of its own, kills the worker in the middle, and lets the host
recover the run. Then it shows what the log says, and the run as it stood when
it was killed. It takes about ten seconds, and leaves nothing behind.
"""


@intent("demo", example="runwright demo")
def command(call: Invocation) -> int:
    """Run a real workflow, kill it in the middle, see it recover, and replay it.

    On a temporary copy of the current git repository, with a host of its own; nothing of yours is touched.
    """
    from runwright.cli.demonstrating import Demonstration, copy_repository

    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="runwright-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        copied = copy_repository(Path.cwd(), folder / "repository")
        what = "the current repository" if copied else "a tiny one, for there is none here"
        if not call.out.for_machines:
            call.out.show(_PLAN.format(what=what))
        shown = Demonstration(call, folder).show()
    if call.out.for_machines:
        call.out.document({"action": "demo", **shown.document(), "seconds": round(time.monotonic() - begun, 1)})
    elif shown.recovered:
        call.out.show(f"Done in {time.monotonic() - begun:.1f} s; the folder, the host and the run are gone.")
    return OK if shown.recovered else ENDED_BADLY
