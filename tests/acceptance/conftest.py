"""A project with the acceptance workflows, a state directory of its own, and the command line over both."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_line import CommandLine

FLOWS = Path(__file__).parent / "flows"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The state directory; nothing is there yet."""
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the workflows, as the current folder; nothing of the machine's is in the environment."""
    folder = tmp_path / "project"
    (folder / ".runwright").mkdir(parents=True)
    for flow in FLOWS.glob("*.py"):
        shutil.copy(flow, folder / flow.name)
    for name in ("RUNWRIGHT_PROJECT", "COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUNWRIGHT_HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cli(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[CommandLine]:
    """The command line in this process."""
    made = CommandLine(project, home, capsys, monkeypatch)
    yield made
    made.stop_host()


@pytest.fixture
def umask() -> Iterator[None]:
    """The most open umask there is."""
    before = os.umask(0)
    yield
    os.umask(before)
