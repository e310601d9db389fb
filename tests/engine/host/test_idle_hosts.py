"""A host with nothing to do: it sleeps, whoever waits, follows or stands in line (C75), and leaves when it may."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # no stubs
import pytest

from runwright.engine.client.client import Client
from runwright.engine.client.connect import find_host
from runwright.engine.host.starting import start_host
from support.host_flows import LONG, QUICK
from support.hosts import Hosted, command, hosted, left_of, wait

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


ASKING = '''
"""Waits for a person."""
from runwright import Context, JsonObject, Workflow

flow = Workflow("asking", input=JsonObject)

@flow.checkpoint(summary="Go on?")
def ask(ctx: Context[JsonObject]) -> str:
    return "so far"

flow.entry(ask)
'''


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


def test_a_host_stays_as_long_as_a_run_waits_for_an_answer(tmp_path: Path) -> None:
    """F347: whoever answers finds it there; once nothing is open it leaves."""
    home = tmp_path / "home"
    (tmp_path / "asking.py").write_text(ASKING)
    start_host(home, command=command(home, idle_exit=0.2))
    with Client.connect(home) as client:
        run_id = client.run_start("asking.py", {}, cwd=tmp_path, project=tmp_path).value
        wait(lambda: client.run_status(run_id)["status"] == "waiting")
        epoch = client.epoch
    time.sleep(1)  # five of its periods
    with Client.connect(home, start=False) as client:
        assert client.epoch == epoch
        (request,) = client.run_status(run_id)["requests"]
        last = client.request_answer(request["request_id"], "yes").value
        wait(lambda: client.run_status(last)["status"] == "completed")
    wait(lambda: find_host(home) is None)
    wait(lambda: left_of(home) == [])
