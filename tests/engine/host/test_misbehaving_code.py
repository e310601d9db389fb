"""No code of a user's holds a real host up, and none that dies takes more than its own run with it."""

import os
import signal
import time
from pathlib import Path

import pytest

from runwright.engine.errors import ActivationFailed
from support.host_flows import DEADLY, LONG, QUICK, STUCK
from support.hosts import hosted, left_of, wait

SLOW_IMPORT = '''
"""A module that takes its time in a worker, but not in a resolver."""
import os
import time
from pathlib import Path

if os.environ.get("RUNWRIGHT_RUN_ID"):
    Path("loading").touch()
    time.sleep(600)

from runwright import Context, JsonObject, Workflow

flow = Workflow("slow-import")

@flow.compute
def one(ctx: Context[JsonObject]) -> int:
    return 1

flow.entry(one)
'''

BAD_IMPORT = '''
"""A module that kills its worker, but no resolver."""
import os

if os.environ.get("RUNWRIGHT_RUN_ID"):
    os._exit(7)

from runwright import Context, JsonObject, Workflow

flow = Workflow("bad-import")

@flow.compute
def one(ctx: Context[JsonObject]) -> int:
    return 1

flow.entry(one)
'''

RESOLVERS = '''
"""Modules that no resolver comes back from."""
import os
os._exit(3)
'''


@pytest.mark.parametrize("which", ["plain", "coroutine"])
def test_a_node_that_never_returns_stops_nobody(tmp_path: Path, which: str) -> None:
    """Status, other runs and a cancel go on beside it, and its lease is kept."""
    with hosted(tmp_path, capacity=2, lease=1.5) as at:
        (at.project / "stuck.py").write_text(STUCK)
        (at.project / "quick.py").write_text(QUICK)
        stuck = at.start(f"stuck.py:{which}")
        at.running(stuck, "spin" if which == "plain" else "turn")
        for _ in range(3):
            assert at.ended(at.start("quick.py"))["status"] == "completed"
        if which == "plain":
            # A plain function leaves its worker's other threads to renew the lease.
            time.sleep(2.0)
            assert at.status(stuck)["queue_state"] == "running"
        at.client.run_cancel(stuck)
        assert at.status(stuck)["status"] == "cancelled"
        wait(lambda: at.client.host_status()["workers"] == 0)


def test_a_node_that_kills_its_worker_is_launched_twice_at_most(tmp_path: Path) -> None:
    """C18, S51: the same reason on every surface; one resume is one more launch; what is mended completes."""
    with hosted(tmp_path) as at:
        (at.project / "deadly.py").write_text(DEADLY)
        ledger = at.project / "ledger"
        run_id = at.start("deadly.py")
        status = at.parked(run_id, "worker_no_progress")
        assert ledger.read_text().count("fatal") == 2
        assert "exit code 9" in status["reason"]["detail"]
        assert "at fatal" in status["reason"]["detail"]
        at.client.run_resume(run_id)
        at.until(run_id, lambda _: ledger.read_text().count("fatal") == 3)
        at.parked(run_id, "worker_no_progress")
        (at.project / "antidote").touch()
        at.client.run_resume(run_id)
        assert at.ended(run_id)["status"] == "completed"
        assert {each["code"] for each in at.client.host_status()["errors"]} == {"worker_crashed"}


def test_a_launch_that_dies_before_it_is_ready_fails_once(tmp_path: Path) -> None:
    """S51 b: never started: failed by name, one launch."""
    with hosted(tmp_path) as at:
        (at.project / "bad.py").write_text(BAD_IMPORT)
        status = at.ended(at.start("bad.py"))
        assert (status["status"], status["error"]["code"]) == ("failed", "activation_failed")
        assert at.workers() == ["crashed"]


def test_a_resolver_that_dies_is_no_failure_of_the_host(tmp_path: Path) -> None:
    """The start is refused without a trace."""
    with hosted(tmp_path) as at:
        (at.project / "dies.py").write_text(RESOLVERS)
        with pytest.raises(ActivationFailed):
            at.start("dies.py")
        assert at.client.run_list()["items"] == []


@pytest.mark.parametrize("phase", ["queued", "starting", "tree", "parked"])
def test_a_cancel_takes_effect_in_every_phase(tmp_path: Path, phase: str) -> None:
    """C45: the process tree ends with it, also what ignores SIGTERM; a run without a worker never waits for one."""
    with hosted(tmp_path, capacity=1) as at:
        (at.project / "long.py").write_text(LONG)
        (at.project / "deadly.py").write_text(DEADLY)
        (at.project / "stuck.py").write_text(STUCK)
        (at.project / "slow.py").write_text(SLOW_IMPORT)
        if phase == "queued":
            other = at.start("stuck.py:plain")
            at.running(other, "spin")
        run_id = at.start({"parked": "deadly.py", "starting": "slow.py"}.get(phase, "long.py"))
        if phase == "starting":
            wait((at.project / "loading").exists)
            assert at.status(run_id)["queue_state"] == "starting"
        if phase == "tree":
            wait((at.project / "there").exists)
        if phase == "parked":
            at.parked(run_id, "worker_no_progress")
        at.client.run_cancel(run_id)
        assert at.status(run_id)["status"] == "cancelled"
        if phase == "queued":
            at.client.run_cancel(other)
        wait(lambda: left_of(at.project) == [])


BOMB = '''
"""A node that starts far more than it should, in sessions and parents of all kinds."""
import os
import subprocess
import time

from runwright import Context, JsonObject, Workflow

flow = Workflow("bomb")

@flow.compute
def explode(ctx: Context[JsonObject]) -> int:
    for number in range(ctx.input["count"]):
        if os.fork() == 0:
            if number % 2:
                os.setsid()
            if number % 3 == 0 and os.fork():
                os._exit(0)
            time.sleep(600)
    (ctx.cwd / "there").touch()
    while True:
        time.sleep(600)

flow.entry(explode)
'''


def test_a_bomb_of_processes_goes_with_its_worker(tmp_path: Path) -> None:
    """Host, status and other runs go on beside 200 processes, a cancel ends them, and none is left."""
    with hosted(tmp_path, capacity=2) as at:
        (at.project / "bomb.py").write_text(BOMB)
        (at.project / "quick.py").write_text(QUICK)
        run_id = at.start("bomb.py", count=200)
        wait((at.project / "there").exists)
        assert at.ended(at.start("quick.py"))["status"] == "completed"
        wait(lambda: at.client.host_status()["workers"] == 1)
        at.client.run_cancel(run_id)
        assert at.status(run_id)["status"] == "cancelled"
        wait(lambda: left_of(at.project) == [])


def test_a_worker_that_is_stopped_loses_its_run(tmp_path: Path) -> None:
    """SIGSTOP: it is not heard of for a lease, it is killed, and the run goes on in another."""
    with hosted(tmp_path, lease=1.0) as at:
        (at.project / "long.py").write_text(LONG)
        run_id = at.start("long.py")
        wait((at.project / "there").exists)
        workers = [pid for pid in left_of(at.project) if b"sleep" not in Path(f"/proc/{pid}/cmdline").read_bytes()]
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        (at.project / "go").touch()
        assert at.ended(run_id)["status"] == "completed"
        assert at.workers() == ["timed_out", "finished"]
