"""Runs commands as processes of their own, in a project folder and at a terminal."""

import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

LIMIT = 90.0


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail when it takes too long."""
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)


class Project:
    """A project folder with the gated workflow, and processes in it."""

    def __init__(self, folder: Path, workflow: Path) -> None:
        self.folder = folder
        self.ledger = folder / "ledger"
        self._started: list[subprocess.Popen[str]] = []
        shutil.copy(workflow, folder / workflow.name)
        self.environment = {
            **os.environ,
            "RUNWRIGHT_HOME": str(folder / "home"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "COLUMNS": "100",
        }

    def begin(self, *line: str) -> "subprocess.Popen[str]":
        """Begin a command, in a process group of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "runwright.cli.main", *line],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def run(self, *line: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end and check its exit code."""
        process = self.begin(*line)
        out, err = process.communicate(timeout=LIMIT)
        assert process.returncode == code, (line, out, err)
        return subprocess.CompletedProcess(line, code, out, err)

    def until_first(self) -> None:
        """Wait until the first node runs."""
        until(lambda: self.ledger.exists() and "first" in self.ledger.read_text())

    def go(self) -> None:
        """Let the first node go on."""
        (self.folder / "go").touch()

    def close(self) -> None:
        """End whatever still runs, by the process groups that were started here."""
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()


def at_terminal(project: Project, *line: str) -> bytes:
    """Run a command at a terminal and answer all that it wrote there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "runwright.cli.main", *line],
        cwd=project.folder,
        env=project.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break  # Linux says so when the other side was closed
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait(timeout=LIMIT) == 0, written
    return written
