"""What a dead holder's runs left running is found and ended before anything is judged."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from runwright.engine.embedded import leftovers
from runwright.engine.execution.child import RUN_MARK

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
    assert leftovers.end_leftovers({"run1", "run2"}) == frozenset()
    assert [child.wait(10) for child in ours] == [-signal.SIGTERM, -signal.SIGTERM]
    assert other.poll() is None


def test_kills_what_does_not_listen(children: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ignores SIGTERM is killed after the grace."""
    monkeypatch.setattr(leftovers, "TERM_GRACE", 0.05)
    child = start(children, "run1", STUBBORN)
    assert leftovers.end_leftovers({"run1"}) == frozenset()
    assert child.wait(10) == -signal.SIGKILL


def test_nothing_to_end() -> None:
    """Without runs, and without programs of theirs, nothing happens."""
    assert leftovers.end_leftovers(()) == frozenset()
    assert leftovers.end_leftovers({"no-such-run"}) == frozenset()
