"""Workers whose memory is full: the harm stays with their run, which ends or waits, and nothing is left."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runwright.engine import process_table
from support.hosts import Hosted, hosted, left_of, wait

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there memory can be bounded for one process")

FLOWS = '''
"""A node that fills the memory that it may have, and what it does then; and one that needs none."""
import os
import resource
import signal
import threading
import time
from pathlib import Path

from runwright import Context, JsonObject, Workflow

full = Workflow("full")
quick = Workflow("quick")
kept = []


def bound():
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + 64 * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def fill():
    size = 2**22
    while size:
        try:
            kept.append(bytes(size))
        except MemoryError:
            size //= 2


@full.compute
def eat(ctx: Context[JsonObject]) -> int:
    with open(ctx.cwd / "eaten", "a") as ledger:
        ledger.write(".")
    bound()
    if ctx.input["then"] == "raise":
        while True:
            kept.append(bytes(2**22))
    threading.Thread(target=fill).start() if ctx.input["then"] == "work" else fill()
    if ctx.input["then"] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)  # as the system does
    if ctx.input["then"] == "stay":
        (ctx.cwd / "there").touch()
        while True:
            time.sleep(600)
    return 1


@full.compute
def after(ctx: Context[JsonObject]) -> int:
    return ctx.output(eat) + 1


@quick.compute
def one(ctx: Context[JsonObject]) -> int:
    return 1


full.entry(eat)
full.then(eat, after)
quick.entry(one)
'''

DEAF = '''
"""A node after which its worker finds no memory for one thing that a channel needs."""
import time

from runwright import Context, JsonObject, Workflow
from runwright.engine import process_table
from runwright.engine.worker import channel

hearing = Workflow("hearing")
renewing = Workflow("renewing")


def nothing(*_: object, **__: object) -> object:
    raise MemoryError


@hearing.compute
def deafen(ctx: Context[JsonObject]) -> int:
    channel.from_data = nothing
    process_table.every = nothing
    return 1


@hearing.compute
def after(ctx: Context[JsonObject]) -> int:
    return ctx.output(deafen) + 1


@renewing.compute
def silence(ctx: Context[JsonObject]) -> int:
    renew, failed = channel.Renew, []

    def once(**head: object) -> object:
        if not failed:
            failed.append(head)
            raise MemoryError
        return renew(**head)

    channel.Renew = once
    while not failed:
        time.sleep(0.01)
    time.sleep(2.0)
    return 1


hearing.entry(deafen)
hearing.then(deafen, after)
renewing.entry(silence)
'''


def rests(status: dict[str, Any]) -> bool:
    """Whether a run has ended, or waits because its worker could not go on."""
    return status["finished_at"] is not None or (status["reason"] or {}).get("code") == "worker_no_progress"


@contextmanager
def world(tmp_path: Path, **settings: object) -> Iterator[Hosted]:
    """A host, and a project with the workflows."""
    with hosted(tmp_path, capacity=2, **settings) as at:
        (at.project / "flows.py").write_text(FLOWS)
        (at.project / "deaf.py").write_text(DEAF)
        yield at


@pytest.mark.parametrize("then", ["raise", "return", "work"])
def test_a_node_that_fills_its_memory_ends_its_own_run(tmp_path: Path, then: str) -> None:
    """Whether its function fails, returns with all of it kept, or goes on filling; nobody else has to care."""
    with world(tmp_path) as at:
        run_id = at.start("flows.py:full", then=then)
        status = at.until(run_id, rests)
        if then == "raise":
            assert (status["status"], status["error"]["code"]) == ("failed", "node_failed")
            assert "MemoryError" in (at.home / "runs" / run_id / "output.log").read_text()
        assert at.ended(at.start("flows.py:quick"))["status"] == "completed"
        wait(lambda: left_of(at.project) == [])


def test_a_worker_that_the_system_kills_for_its_memory_parks_its_run(tmp_path: Path) -> None:
    """Two launches at most, then a reason that says what such a signal means; a resume is one more."""
    with world(tmp_path) as at:
        run_id = at.start("flows.py:full", then="killed")
        status = at.parked(run_id, "worker_no_progress")
        assert "signal 9, as when the system runs out of memory" in status["reason"]["detail"]
        assert "at eat" in status["reason"]["detail"]
        assert at.workers() == ["crashed", "crashed"]
        assert at.ended(at.start("flows.py:quick"))["status"] == "completed"
        eaten = at.project / "eaten"
        at.client.run_resume(run_id)
        at.until(run_id, lambda _: len(eaten.read_text()) == 3)
        at.parked(run_id, "worker_no_progress")
        at.client.run_cancel(run_id)
        assert at.status(run_id)["status"] == "cancelled"
        wait(lambda: left_of(at.project) == [])


def test_a_run_that_sits_on_full_memory_is_cancelled(tmp_path: Path) -> None:
    """The worker has no memory for a word, and needs none."""
    with world(tmp_path) as at:
        run_id = at.start("flows.py:full", then="stay")
        wait((at.project / "there").exists)
        assert at.ended(at.start("flows.py:quick"))["status"] == "completed"
        wait(lambda: at.client.host_status()["workers"] == 1)  # that of the quick one ends a moment after its run
        at.client.run_cancel(run_id)
        assert at.status(run_id)["status"] == "cancelled"
        wait(lambda: left_of(at.project) == [])


def test_a_worker_that_cannot_hear_for_lack_of_memory_ends(tmp_path: Path) -> None:
    """It does not stand there for ever with its lease kept: its run goes on behind what was saved, in another."""
    with world(tmp_path) as at:
        status = at.ended(at.start("deaf.py:hearing"))
        assert status["status"] == "completed"
        assert at.workers() == ["crashed", "finished"]


def test_a_worker_that_cannot_renew_once_keeps_its_lease(tmp_path: Path) -> None:
    """A lease lasts for three renewals."""
    with world(tmp_path, lease=1.5) as at:
        assert at.ended(at.start("deaf.py:renewing"))["status"] == "completed"
        assert at.workers() == ["finished"]


def test_the_system_ends_a_worker_rather_than_its_host(tmp_path: Path) -> None:
    """What a node starts inherits that."""
    with world(tmp_path) as at:
        run_id = at.start("flows.py:full", then="stay")
        wait((at.project / "there").exists)
        host, *workers = (int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in (at.pid, *left_of(at.project)))
        assert workers
        assert all(each == min(1000, host + 100) for each in workers)
        at.client.run_cancel(run_id)
        assert process_table.look(at.pid) is not None
