"""The files that `init` writes run and pass their own test as they stand."""

import os
import subprocess
import sys
from pathlib import Path

from support.command_line import CommandLine


def test_the_example_runs_and_its_test_passes(cli: CommandLine) -> None:
    """A person's first two commands in an empty folder: the example ends with an index, and its test passes."""
    cli("init", "new")
    project = Path("new")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*line: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *line], cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert run("runwright.cli.main", "workflows", "--jsonl").count("\n") == 1
    assert run("runwright.cli.main", "check", "example").startswith("✓ example holds")
    index, own = project.resolve() / "INDEX.md", "- [What this folder holds](./.runwright/README.md)\n"
    assert run("runwright.cli.main", "run", "--inline", "example").strip() == str(index)
    assert index.read_text() == f"# Index\n\n{own}"
    (project / "notes.md").write_text("# My notes\n")
    (project / ".venv").mkdir()
    (project / ".venv" / "licence.md").write_text("# Not mine\n")
    run("runwright.cli.main", "run", "--inline", "example")
    assert index.read_text() == f"# Index\n\n{own}- [My notes](./notes.md)\n"
    assert "INDEX.md will list: What this folder holds, My notes" in run("runwright.cli.main", "show", "@last")
    assert "3 passed" in run("pytest", ".runwright", "-q", "-p", "no:cacheprovider")


def test_nothing_that_is_there_is_overwritten(cli: CommandLine) -> None:
    """A second `init`, or one over own files, leaves them as they are."""
    own = cli.project / ".runwright" / "workflows" / "example.py"
    own.write_text("# mine\n")
    assert "Kept" in cli("init").err
    assert own.read_text() == "# mine\n"
    assert (cli.project / ".runwright/tests/test_example.py").exists()
