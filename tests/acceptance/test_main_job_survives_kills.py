"""The main job, killed with SIGKILL at random moments and resumed, completes every time."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.sound import check_sound

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))
KILLS = max(1, round(2 * DEPTH))
EXAMPLE = Path(__file__).parents[2] / "examples" / "repo_report.py"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the main job reads a git repository")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small git repository."""
    folder = tmp_path / "repository"
    folder.mkdir()
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for number in range(3):
        (folder / f"file{number}.py").write_text(f"# TODO {number}\n")
        subprocess.run(["git", "-C", str(folder), "add", "."], check=True)
        subprocess.run(["git", "-C", str(folder), *who, "commit", "-q", "-m", f"commit {number}"], check=True)
    return folder


def test_the_main_job_completes_however_often_it_is_killed(cli: CommandLine, repository: Path) -> None:
    """Each time the resumed run ends with the same report, and no finished node ran twice."""
    shutil.copy(EXAMPLE, cli.project / "repo_report.py")
    line = ["run", "--inline", "repo_report.py", "-s", f"path={repository}", "--json"]
    program = [sys.executable, "-m", "runwright.cli.main", *line]
    started = time.monotonic()
    whole = subprocess.run(program, capture_output=True, text=True, check=True)
    took = time.monotonic() - started
    assert '"status": "completed"' in whole.stdout
    report = Path("report.md").read_text()
    chance = random.Random(os.getpid())
    for _ in range(KILLS):
        Path("report.md").unlink()
        known = {each["run_id"] for each in cli("runs", "--json").document["items"]}
        process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(took / 4, took))
        process.kill()
        process.wait()
        fresh = [each for each in cli("runs", "--json").document["items"] if each["run_id"] not in known]
        if not fresh:
            # It was killed before anybody was told of a run.
            Path("report.md").write_text(report)
            continue
        (run,) = fresh
        if run["status"] != "completed":
            assert cli("resume", run["run_id"], "--json").document["status"] == "completed"
        assert Path("report.md").read_text() == report
        starts = cli("events", run["run_id"], "--type", "node.started", "--json").document["items"]
        assert len(starts) == len({(each["data"]["path"], each["data"]["visit"]) for each in starts}) == 9
    check_sound(cli.home)
