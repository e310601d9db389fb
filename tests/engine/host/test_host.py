"""A host in a process of its own: its start, its end, and what its runs notice of either."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from runwright.engine.client.client import Client
from runwright.engine.client.connect import find_host
from runwright.engine.host.starting import start_host
from runwright.engine.host.unstarted import HostUnstarted
from support.host_flows import DEADLY, LONG, QUICK
from support.hosts import command, hosted, left_of, wait

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))


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
