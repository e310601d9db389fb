"""A host in a process of its own, with real workers: no user code can block it, and no death of anybody loses a run."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from runwright.engine.client.client import Client
from runwright.engine.client.connect import find_host
from runwright.engine.errors import ActivationFailed
from runwright.engine.host.starting import start_host
from runwright.engine.host.unstarted import HostUnstarted
from support.hosts import command, hosted, left_of, wait

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))

QUICK = '''
"""Two steps."""
from runwright import Context, JsonObject, Workflow

flow = Workflow("quick")

@flow.compute
def one(ctx: Context[JsonObject]) -> int:
    return 1

@flow.compute
def two(ctx: Context[JsonObject]) -> int:
    return ctx.output(one) + 1

flow.entry(one)
flow.then(one, two)
'''

STUCK = '''
"""A node that never returns, plain or asynchronous."""
from runwright import Context, JsonObject, Workflow

plain = Workflow("plain")
coroutine = Workflow("coroutine")

@plain.compute
def spin(ctx: Context[JsonObject]) -> int:
    while True:
        pass

@coroutine.compute
async def turn(ctx: Context[JsonObject]) -> int:
    while True:
        pass

plain.entry(spin)
coroutine.entry(turn)
'''

DEADLY = '''
"""A node that kills its worker, and a module that kills whoever imports it in a worker."""
import os
from pathlib import Path

from runwright import Context, JsonObject, Workflow

flow = Workflow("deadly")

@flow.compute
def fatal(ctx: Context[JsonObject]) -> int:
    with open(ctx.cwd / "ledger", "a") as ledger:
        ledger.write("fatal\\n")
    if not (ctx.cwd / "antidote").exists():
        os._exit(9)
    return 1

flow.entry(fatal)
'''

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

LONG = '''
"""A shell step with a process tree, that says when it is there."""
from runwright import Context, JsonObject, Workflow

flow = Workflow("long")

@flow.compute
def first(ctx: Context[JsonObject]) -> int:
    return 1

@flow.shell(recovery="idempotent")
def tree(ctx: Context[JsonObject]) -> list[str]:
    return ["sh", "-c", "trap '' TERM; (sleep 300 & sleep 300) & touch there; [ -e go ] || wait"]

@flow.compute
def last(ctx: Context[JsonObject]) -> int:
    return 2

flow.entry(first)
flow.then(first, tree)
flow.then(tree, last)
'''

RESOLVERS = '''
"""Modules that no resolver comes back from."""
import os
os._exit(3)
'''


def test_a_run_goes_through_a_worker(tmp_path: Path) -> None:
    """Started by a client, loaded by a resolver, carried out by a worker, told by the host."""
    with hosted(tmp_path) as at:
        (at.project / "quick.py").write_text(QUICK)
        status = at.ended(at.start("quick.py"))
        assert status["status"] == "completed"
        assert at.client.run_output(status["run_id"]) == 2
        wait(lambda: at.client.host_status()["workers"] == 0)
        found = at.client.host_status()
        assert (found["state"], found["errors"]) == ("serving", [])


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


def test_many_runs_share_the_capacity(tmp_path: Path) -> None:
    """All finish, never more at once than there are places."""
    count = round(40 * DEPTH)
    with hosted(tmp_path, capacity=4) as at:
        (at.project / "quick.py").write_text(QUICK)
        runs = [at.start("quick.py") for _ in range(count)]
        assert {at.ended(run_id)["status"] for run_id in runs} == {"completed"}
        assert at.client.host_status()["capacity"] == 4


def test_a_killed_host_loses_nothing(tmp_path: Path) -> None:
    """Its worker and everything that started ends with it; the next host goes on where the run stood."""
    with hosted(tmp_path) as at:
        (at.project / "long.py").write_text(LONG)
        run_id = at.start("long.py")
        wait((at.project / "there").exists)
        at.kill()
        (at.project / "go").touch()
        at.start_again()
        wait(lambda: at.ended(run_id)["status"] == "completed")
        assert at.workers() == ["orphaned", "finished"]


def test_recovering_twice_adds_nothing_but_the_epoch(tmp_path: Path) -> None:
    """What the second host finds, the first has put away already."""
    with hosted(tmp_path) as at:
        (at.project / "deadly.py").write_text(DEADLY)
        run_id = at.start("deadly.py")
        at.parked(run_id, "worker_no_progress")
        for _ in range(2):
            before = at.client.host_status()["position"]
            at.kill()
            at.start_again()
            assert at.client.host_status()["position"] == before + 1
        assert at.status(run_id)["reason"]["code"] == "worker_no_progress"


def test_a_stopped_host_parks_its_runs_and_the_next_goes_on(tmp_path: Path) -> None:
    """SIGTERM drains: what does not reach its boundary in time is ended; nothing is lost."""
    with hosted(tmp_path, grace=0.2) as at:
        (at.project / "long.py").write_text(LONG)
        run_id = at.start("long.py")
        wait((at.project / "there").exists)
        at.client.host_stop()
        wait(lambda: find_host(at.home) is None)
        wait(lambda: left_of(at.project) == [])
        (at.project / "go").touch()
        at.start_again()
        assert at.ended(run_id)["status"] == "completed"


def test_hosts_race_for_one_home(tmp_path: Path) -> None:
    """One of those who find no host starts it, and the others wait for that one instead of starting theirs."""
    home, starts = tmp_path / "home", tmp_path / "starts"
    outcomes: list[Exception | None] = []
    python, *rest = command(home)
    counted = ["sh", "-c", 'echo >> "$0"; exec "$@"', str(starts), python, *rest]

    def start() -> None:
        try:
            start_host(home, command=counted)
            outcomes.append(None)
        except Exception as error:  # noqa: BLE001 - asserted below
            outcomes.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    with Client.connect(home) as client:
        assert outcomes == [None] * 4
        client.host_stop()
    wait(lambda: left_of(home) == [])
    assert len(starts.read_text().splitlines()) == 1


def test_a_host_starts_and_works_under_any_umask(tmp_path: Path) -> None:
    """Also under one that takes everything from its owner, who needs the files."""
    before = os.umask(0o777)
    try:
        start_host(tmp_path / "home", command=command(tmp_path / "home"))
    finally:
        os.umask(before)
    (tmp_path / "quick.py").write_text(QUICK)
    with Client.connect(tmp_path / "home") as client:
        run_id = client.run_start("quick.py", {}, cwd=tmp_path, project=tmp_path).value
        wait(lambda: client.run_status(run_id)["status"] == "completed")
        client.host_stop()
    wait(lambda: left_of(tmp_path) == [])
    made = [tmp_path / "home", *(tmp_path / "home").rglob("*")]
    assert {
        path.name: oct(path.stat().st_mode & 0o777)
        for path in made
        if path.stat().st_mode & 0o777 not in (0o600, 0o700)
    } == {}


def test_a_second_host_says_who_has_the_store(tmp_path: Path) -> None:
    """In the foreground it does not wait."""
    with hosted(tmp_path) as at:
        second = subprocess.run(command(at.home), capture_output=True, text=True, timeout=60)
        assert second.returncode != 0
        assert f"Process {at.pid} holds the store" in second.stderr


def test_a_host_that_cannot_serve_says_why(tmp_path: Path) -> None:
    """The starter hears the error's own words."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "log.sqlite").write_bytes(b"no database")
    (home / "log.sqlite").chmod(0o600)
    with pytest.raises(HostUnstarted) as refused:
        start_host(home, command=command(home))
    assert refused.value.code == "store_foreign"


def test_a_host_that_stood_still_goes_on_with_its_workers(tmp_path: Path) -> None:
    """C20: stopped for three lease periods; its workers were heard before anybody was judged."""
    lease = 1.0
    with hosted(tmp_path, lease=lease) as at:
        (at.project / "long.py").write_text(LONG)
        run_id = at.start("long.py")
        wait((at.project / "there").exists)
        epoch = at.client.epoch
        for _ in range(2):
            os.kill(at.pid, signal.SIGSTOP)
            time.sleep(3 * lease)
            os.kill(at.pid, signal.SIGCONT)
            assert at.status(run_id)["queue_state"] == "running"
        time.sleep(2 * lease)
        assert (at.status(run_id)["queue_state"], at.workers()) == ("running", [None])
        assert at.client.epoch == epoch
        at.client.run_cancel(run_id)


def test_a_host_without_work_leaves(tmp_path: Path) -> None:
    """Nothing is unsettled and nobody is connected."""
    home = tmp_path / "home"
    start_host(home, command=command(home, idle_exit=0.3))
    with Client.connect(home) as client:
        time.sleep(1.0)
        assert client.host_status()["state"] == "serving"
    wait(lambda: find_host(home) is None)
    wait(lambda: left_of(home) == [])


def test_nothing_private_stands_in_the_hosts_log(tmp_path: Path) -> None:
    """It is 0600 and tells codes and IDs."""
    with hosted(tmp_path) as at:
        (at.project / "deadly.py").write_text(DEADLY)
        run_id = at.start("deadly.py", secret="canary-7461")
        at.parked(run_id, "worker_no_progress")
        log = at.home / "host.log"
        assert log.stat().st_mode & 0o777 == 0o600
        assert "canary" not in log.read_text()


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
        assert at.client.host_status()["workers"] == 1
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
