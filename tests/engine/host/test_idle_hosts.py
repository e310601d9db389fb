"""A host that waits sleeps: whoever waits, follows or stands in line has it woken by nobody (C75)."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # no stubs
import pytest

from support.host_flows import LONG, QUICK
from support.hosts import Hosted, hosted, wait

WAITING = '''
"""Waits for an hour."""
from runwright import JsonObject, Workflow, hours

flow = Workflow("waiting", input=JsonObject)
flow.entry(flow.wait("pause", hours(1)))
'''


def check_sleep(at: Hosted) -> None:
    """Wait for a second in which none of the host's processes was woken; what polled would leave none."""
    host = psutil.Process(at.pid)

    def woken() -> dict[int, int]:
        found = {}
        for each in (host, *host.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                found[each.pid] = each.num_ctx_switches().voluntary
        return found

    def slept() -> bool:
        before = woken()
        time.sleep(1)
        return before == woken()

    wait(slept)


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Hosted]:
    """A host with one place."""
    with hosted(tmp_path, capacity=1) as found:
        yield found


@pytest.mark.skipif(sys.platform != "linux", reason="counts what wakes a process as Linux does")
def test_a_host_sleeps_however_many_wait(at: Hosted) -> None:
    """C75: with runs that wait and clients that follow them, and with a line before its one place."""
    for name, text in (("waiting.py", WAITING), ("quick.py", QUICK), ("long.py", LONG)):
        (at.project / name).write_text(text)
    waiting = [at.start("waiting.py") for _ in range(8)]
    wait(lambda: at.client.host_status()["runs"]["waiting"] == 8)
    with ExitStack() as stack:
        for run_id in (None, *waiting):
            next(stack.enter_context(closing(at.client.view_subscribe(run_id))))
        check_sleep(at)
        long = at.start("long.py")
        wait((at.project / "there").exists)
        queued = [at.start("quick.py") for _ in range(3)]
        check_sleep(at)
        assert at.client.host_status()["runs"]["queued"] == 3
        at.client.run_cancel(long)
        assert {at.ended(run_id)["status"] for run_id in queued} == {"completed"}
