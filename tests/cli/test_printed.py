"""What user code prints never comes to stdout: it stands in its run's log, and on stderr while somebody watches."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.command_processes import Project, until

FLOWS = Path(__file__).parent / "flows"
SAID = ("printed", "to stderr", "to the descriptor", "from C", "from a child", "a warning", "from a thread")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project folder with the workflow that talks."""
    made = Project(tmp_path, FLOWS / "talk.py")
    yield made
    made.close()


def test_stdout_is_the_output_alone(project: Project) -> None:
    """With all that is printed, stdout holds the output; stderr shows the lines as they come."""
    done = project.run("run", "--inline", "talk.py")
    assert done.stdout == "the output\n"
    for words in (*SAID, "on the loop", "loading"):
        assert words in done.stderr


@pytest.mark.parametrize("command", [("run", "--inline"), ("check",), ("run", "--dry-run")])
def test_stdout_is_one_document(project: Project, command: tuple[str, ...]) -> None:
    """Loading prints, too; a document stays one."""
    done = project.run(command[0], "talk.py", "--json", *command[1:])
    assert json.loads(done.stdout)
    assert "loading" in done.stderr


def test_quiet_is_quiet(project: Project) -> None:
    """With `-q` nothing is shown, and everything is kept."""
    done = project.run("run", "--inline", "talk.py", "-q")
    assert (done.stdout, done.stderr) == ("the output\n", "")
    assert "aloud: printed" in project.run("logs", "@last").stdout


def test_the_log_has_every_line_under_its_node(project: Project) -> None:
    """`logs` has all of it, whoever wrote it in whatever way; a line that never ended, too.

    What Python prints stands under its node. A line that was written to a descriptor has no author: it stands under
    the node at work when it arrives, which may be the next one.
    """
    project.run("run", "--inline", "talk.py")
    everything = project.run("logs", "@last").stdout
    for words in SAID:
        assert words in everything
    lines = project.run("logs", "@last", "aloud").stdout
    for words in ("printed", "to stderr", "a warning", "half a line"):
        assert words in lines
    assert "on the loop" not in lines
    assert "softly: on the loop\n" in project.run("logs", "@last", "softly").stdout


def test_a_function_that_cannot_be_stopped_says_nothing_more(project: Project) -> None:
    """A function that outlives its time and goes on printing comes to no stream, and keeps the process no longer."""
    done = project.run("run", "--inline", "talk.py", "-s", "end=go on", "--json", code=1)
    assert json.loads(done.stdout)["status"] == "timed_out"


def test_the_streams_are_given_back(cli: CommandLine) -> None:
    """A program that calls the command line has its own streams afterwards, and no descriptor more."""
    cli("run", "--inline", "sample", "greet")
    before = sys.stdout, sys.stderr, os.fstat(1), os.fstat(2), len(list(Path("/dev/fd").iterdir()))
    cli("run", "--inline", "sample", "greet")
    assert (sys.stdout, sys.stderr) == before[:2]
    assert (os.fstat(1).st_ino, os.fstat(2).st_ino) == (before[2].st_ino, before[3].st_ino)
    until(lambda: len(list(Path("/dev/fd").iterdir())) <= before[4])
