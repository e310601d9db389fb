"""What a dead holder's runs left running is found and ended before anything is judged."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from attrs import evolve

from runwright.engine import process_table
from runwright.engine.embedded import leftovers
from runwright.engine.embedded.leftovers import Leftover
from runwright.engine.processes import own_identity
from runwright.engine.run_mark import RUN_MARK
from runwright.eventstore.events.event import ProcessIdentity

STUBBORN = (
    "import signal, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('ready', flush=True)\n"
    "while True: time.sleep(60)\n"
)
MEEK = "import time\nprint('ready', flush=True)\nwhile True: time.sleep(60)\n"


@pytest.fixture
def children() -> Iterator[list[subprocess.Popen[str]]]:
    """Children that do not outlive the test."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for child in started:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def start(children: list[subprocess.Popen[str]], run_id: str, script: str) -> subprocess.Popen[str]:
    """Start a program as a run would, and wait until it is up."""
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, RUN_MARK: run_id},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children.append(child)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def test_ends_what_belongs_to_the_runs_only(children: list[subprocess.Popen[str]]) -> None:
    """Programs of the named runs end, those of another run go on."""
    ours = [start(children, "run1", MEEK), start(children, "run2", MEEK)]
    other = start(children, "run3", MEEK)
    assert leftovers.end_leftovers([Leftover(run_id="run1"), Leftover(run_id="run2")]) == frozenset()
    assert [child.wait(10) for child in ours] == [-signal.SIGTERM, -signal.SIGTERM]
    assert other.poll() is None


def test_kills_what_does_not_listen(children: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ignores SIGTERM is killed after the grace."""
    monkeypatch.setattr(leftovers, "TERM_GRACE", 0.05)
    child = start(children, "run1", STUBBORN)
    assert leftovers.end_leftovers([Leftover(run_id="run1")]) == frozenset()
    assert child.wait(10) == -signal.SIGKILL


def test_nothing_to_end() -> None:
    """Without runs, and without programs of theirs, nothing happens."""
    assert leftovers.end_leftovers(()) == frozenset()
    assert leftovers.end_leftovers([Leftover(run_id="no-such-run")]) == frozenset()


def identity(child: subprocess.Popen[str]) -> ProcessIdentity:
    """A child by its exact identity."""
    found = process_table.look(child.pid)
    assert found is not None
    return evolve(own_identity(), pid=found.pid, start=found.start)


FORKS = "import os, time\nif os.fork() == 0: time.sleep(60)\nprint('ready', flush=True)\nwhile True: time.sleep(60)\n"


def session_of(child: subprocess.Popen[str]) -> list[int]:
    """The living processes of a child's session."""
    return [each.pid for each in process_table.every() if each.session == child.pid and not each.ended]


@pytest.mark.parametrize("leads", [True, False])
def test_a_worker_ends_with_its_process_session(children: list[subprocess.Popen[str]], leads: bool) -> None:
    """Also where the worker itself is gone already, and only what it started is left."""
    child = start(children, "", FORKS)
    assert len(session_of(child)) == 2
    left = Leftover(run_id="run1", process=identity(child))
    if not leads:
        child.kill()
        child.wait(10)
    assert leftovers.end_leftovers([left]) == frozenset()
    assert session_of(child) == []


def test_a_registered_process_ends_wherever_it_went(children: list[subprocess.Popen[str]]) -> None:
    """It is known by its exact identity alone."""
    child = start(children, "", MEEK)
    assert leftovers.end_leftovers([Leftover(run_id="run1", registered=(identity(child),))]) == frozenset()
    assert child.wait(10) == -signal.SIGTERM


@pytest.mark.parametrize(
    "other",
    [
        lambda named: evolve(named, boot="another"),
        lambda named: evolve(named, namespace="1"),
        lambda named: evolve(named, start=named.start - 1),
    ],
    ids=["boot", "namespace", "start"],
)
def test_whoever_is_not_exactly_that_process_is_never_signalled(
    children: list[subprocess.Popen[str]], other: Callable[[ProcessIdentity], ProcessIdentity]
) -> None:
    """Another boot, another container, or a process that took the number since."""
    child = start(children, "", MEEK)
    changed = other(identity(child))
    assert leftovers.end_leftovers([Leftover(run_id="run1", process=changed, registered=(changed,))]) == frozenset()
    assert child.poll() is None
