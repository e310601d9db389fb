"""A command line in this process: its own home, project and configuration, nothing of the machine's."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_line import CommandLine

FLOWS = Path(__file__).parent / "flows"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[CommandLine]:
    """A command line with the sample workflow in its project."""
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".runwright" / "workflows").mkdir(parents=True)
    shutil.copy(FLOWS / "sample.py", project / ".runwright" / "workflows" / "sample.py")
    for name in ("RUNWRIGHT_HOME", "RUNWRIGHT_PROJECT", "COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUNWRIGHT_HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setattr("runwright.cli.terminal._PLACE", str(tmp_path / "no terminal"))
    monkeypatch.chdir(project)
    made = CommandLine(project, home, capsys, monkeypatch)
    yield made
    made.stop_host()
