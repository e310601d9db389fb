"""The files that `init` writes run and pass their own test as they stand."""

import os
import subprocess
import sys
from pathlib import Path

from support.command_line import CommandLine


def test_the_example_runs_and_its_test_passes(cli: CommandLine) -> None:
    """A person's first two commands: the example ends with an index, and its test passes."""
    cli("init", "new")
    project = Path("new")
    (project / "notes.md").write_text("# My notes\n")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*line: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *line], cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert run("runwright.cli.main", "workflows", "--jsonl").count("\n") == 1
    assert run("runwright.cli.main", "check", "example").startswith("✓ example holds")
    assert run("runwright.cli.main", "run", "--inline", "example", "-s", "folder=.").strip() == str(
        project.resolve() / "INDEX.md"
    )
    assert (project / "INDEX.md").read_text() == "# Index\n\n- [My notes](./notes.md)\n"
    assert "3 passed" in run("pytest", ".runwright", "-q", "-p", "no:cacheprovider")


def test_nothing_that_is_there_is_overwritten(cli: CommandLine) -> None:
    """A second `init`, or one over own files, leaves them as they are."""
    own = cli.project / ".runwright" / "workflows" / "example.py"
    own.write_text("# mine\n")
    assert "Kept" in cli("init").err
    assert own.read_text() == "# mine\n"
    assert (cli.project / ".runwright/tests/test_example.py").exists()
