"""What a new holder finds of an earlier one's workers: ended by identity, and judged only where their end was seen."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import evolve

from runwright.engine import process_table
from runwright.engine.commands.host import ClaimRun
from runwright.engine.commands.worker import (
    Authority,
    BeginEffect,
    Ready,
    RegisterProcess,
    ReserveEffect,
    StartNode,
)
from runwright.engine.embedded.recovery import recover
from runwright.engine.processes import own_identity
from runwright.engine.transitions.worker import token_hash
from runwright.eventstore.events.event import ProcessIdentity
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.processes import PROCESSES
from runwright.projections.control.queue import QUEUE
from support.graphs import graph, node
from support.stage import Stage, stage

ONE = "run-1"
FLOW = graph(node("post", "action", contract="idempotent"))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Stage]:
    """A stage over a new log."""
    with stage(tmp_path / "home") as each:
        yield each


def launched(scene: Stage, process: ProcessIdentity) -> Authority:
    """A run whose worker, in that process, is applying an idempotent effect."""
    scene.queue(FLOW)
    owner, token = f"{scene.epoch}:worker", "0" * 64
    scene.host(ClaimRun(run_id=ONE, owner=owner, token_hash=token_hash(token), process=process))
    worker = Authority(run_id=ONE, owner=owner, token=token, generation=1)
    scene.applied(
        worker,
        Ready(),
        StartNode(path="post", visit=1, attempt=1),
        ReserveEffect(path="post", visit=1, request=None),
        BeginEffect(path="post", visit=1),
    )
    return worker


def recovered(scene: Stage, *, old_host_gone: bool = False) -> tuple[str | None, str]:
    """Recover under a new epoch, twice: the second time adds nothing. Answers park reason and effect's state."""
    later = scene.succeed("later")
    assert recover(scene.log, later.transitions, "later", old_host_gone=old_host_gone) == frozenset()
    head = scene.log.head()
    assert recover(scene.log, later.transitions, "later", old_host_gone=old_host_gone) == frozenset()
    assert scene.log.head() == head
    return later.row(QUEUE, ONE).reason, later.rows(EFFECTS)[0].state


@contextmanager
def sleeper() -> Iterator[tuple["subprocess.Popen[bytes]", ProcessIdentity]]:
    """A process that leads a session of its own, with its exact identity; gone when the block ends."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        found = process_table.look(child.pid)
        assert found is not None
        yield child, evolve(own_identity(), pid=found.pid, start=found.start)
    finally:
        child.kill()
        child.wait()


def test_a_living_worker_is_ended_before_it_is_judged(scene: Stage) -> None:
    """Known by its exact identity; what it had named is struck out."""
    with sleeper() as (child, process):
        worker = launched(scene, process)
        scene.applied(worker, RegisterProcess(process=evolve(process, start=process.start + 1)))
        assert recovered(scene) == ("orphaned", "reserved")
        assert child.wait(30) != 0
        assert scene.rows(PROCESSES) == []


@pytest.mark.parametrize(
    ("gone", "stands"), [(False, ("effect_ambiguous", "ambiguous")), (True, ("orphaned", "reserved"))]
)
def test_a_worker_in_another_container_may_live(scene: Stage, gone: bool, stands: tuple[str, str]) -> None:
    """Nobody can see it from here: ambiguous whatever the contract, unless somebody vouches for its end."""
    launched(scene, evolve(own_identity(), namespace="1"))
    assert recovered(scene, old_host_gone=gone) == stands


def test_a_worker_of_another_boot_is_dead(scene: Stage) -> None:
    """Nothing survives that."""
    launched(scene, evolve(own_identity(), boot="another"))
    assert recovered(scene) == ("orphaned", "reserved")


def test_a_holder_that_carried_runs_out_itself_is_not_ended(scene: Stage) -> None:
    """It is a program of somebody's that may live on."""
    with sleeper() as (child, process):
        scene.transitions.start_host(process, "0").result()
        launched(scene, process)
        assert recovered(scene) == ("orphaned", "reserved")
        assert child.poll() is None
