"""The command line as processes: Ctrl-C, kill, pipes that close, terminals, and two processes on one store."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_processes import LIMIT, Project, at_terminal, until
from support.queueing import queue_run

FLOWS = Path(__file__).parent / "flows"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project folder."""
    made = Project(tmp_path, FLOWS / "gate.py")
    yield made
    made.close()


def test_the_first_interrupt_pauses_and_keeps_showing(project: Project) -> None:
    """Ctrl-C lets the step end, starts no further one, and says how to go on; `resume` carries it to its end."""
    process = project.begin("run", "--inline", "gate.py")
    project.until_first()
    process.send_signal(signal.SIGINT)
    until(lambda: json.loads(project.run("query", "runs", "--json").stdout)["items"][0]["pause_requested"])
    project.go()
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 5, err
    assert out == ""
    assert "runwright resume" in err
    assert project.ledger.read_text() == "first\n"
    assert project.run("resume", "@last").stdout == "second\n"
    assert project.ledger.read_text() == "first\nsecond\n"


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_the_second_interrupt_leaves(project: Project, flags: tuple[str, ...]) -> None:
    """The second Ctrl-C ends the process with 130 at once, though its code cannot be stopped, and says how to go on."""
    process = project.begin("run", "--inline", "gate.py", *flags)
    project.until_first()
    process.send_signal(signal.SIGINT)
    until(lambda: json.loads(project.run("query", "runs", "--json").stdout)["items"][0]["pause_requested"])
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, err
    if flags:
        assert any("runwright resume" in line for line in json.loads(out)["next"])
    else:
        assert out == ""
        assert "runwright resume" in err
    project.go()
    assert project.run("resume", "@last").stdout == "second\n"
    # The step under way when its process left is run again; the one after it once.
    assert project.ledger.read_text().split() == ["first", "first", "second"]


def test_an_interrupt_elsewhere_only_leaves(project: Project) -> None:
    """Ctrl-C in `wait` exits 130 and changes nothing."""
    queue_run(project.folder / "home", project.folder, "gate.py")
    head = project.run("log", "head").stdout
    process = project.begin("wait", "@last")
    assert process.stderr is not None
    assert "Nothing drives run" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert project.run("log", "head").stdout == head


def test_a_held_store_answers_with_its_process(project: Project) -> None:
    """While a process drives a run, others read beside it; what would change it names the process and the next step."""
    process = project.begin("run", "--inline", "gate.py")
    project.until_first()
    writers: tuple[tuple[str, ...], ...] = (
        ("pause", "@last"),
        ("cancel", "@last"),
        ("resume", "@last"),
        ("start", "gate.py"),
    )
    for line in writers:
        answer = project.run(*line, "--json", code=4)
        failure = json.loads(answer.stdout)["error"]
        assert failure["code"] == "store_in_use"
        assert str(process.pid) in failure["message"]
        assert failure["hint"]
    assert json.loads(project.run("status", "@last", "--json").stdout)["status"] == "running"
    assert json.loads(project.run("store", "status", "--json").stdout)["pid"] == process.pid
    readers: tuple[tuple[str, ...], ...] = (
        ("runs",),
        ("events",),
        ("log", "verify"),
        ("projections", "verify"),
        ("show", "@last"),
        ("replay", "@last"),
    )
    for line in readers:
        project.run(*line)
    waiting = project.begin("wait", "@last")
    project.go()
    assert process.communicate(timeout=LIMIT)[0] == "second\n"
    waiting.communicate(timeout=LIMIT)
    assert waiting.returncode == 0


def test_killed_and_resumed(project: Project) -> None:
    """A run whose process was killed shows what to type, and goes on without repeating a finished node."""
    process = project.begin("run", "--inline", "gate.py")
    project.until_first()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    status = json.loads(project.run("status", "@last", "--json").stdout)
    assert status["next"][0].startswith("runwright resume ")
    project.go()
    assert project.run(*status["next"][0].split()[1:]).stdout == "second\n"
    assert project.ledger.read_text().split() == ["first", "first", "second"]


def test_a_time_limit_leaves_the_run_to_be_resumed(project: Project) -> None:
    """`--timeout` exits 5; the run stops at its next step and goes on from there."""
    process = project.begin("run", "--inline", "gate.py", "--timeout", "0.5")
    project.until_first()
    project.go()
    process.communicate(timeout=LIMIT)
    assert process.returncode in (0, 5)
    if process.returncode == 5:
        assert project.run("resume", "@last").stdout == "second\n"
    assert project.ledger.read_text().split().count("second") == 1


def test_a_closed_pipe_is_no_error(project: Project) -> None:
    """Whoever reads only the first line ends the command quietly."""
    project.go()
    project.run("run", "--inline", "gate.py")
    for line in ("events --jsonl", "events", "log export", "query"):
        done = subprocess.run(
            f'"{sys.executable}" -m runwright.cli.main {line} | head -n 1',
            shell=True,
            cwd=project.folder,
            env=project.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        assert done.stdout


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_gets_colours_and_no_data_steers_it(project: Project, colour: bool) -> None:
    """At a terminal the screens have colours, without NO_COLOR; data cannot add a sequence of its own."""
    (project.folder / "evil.py").write_text(
        "from runwright import Context, Workflow\n"
        "evil = Workflow('evil')\n"
        "@evil.compute\n"
        "def first(ctx: Context) -> str:\n    return 'title \\x1b]0;evil\\x07 \\x9b2J'\n"
        "evil.entry(first)\n"
    )
    project.environment.pop("NO_COLOR", None)
    project.environment["TERM"] = "xterm-256color"
    if not colour:
        project.environment["NO_COLOR"] = "1"
    shown = b""
    for line in (
        ("run", "--inline", "evil.py"),
        ("output", "@last"),
        ("show", "@last"),
        ("events", "@last", "--values", "--jsonl"),
    ):
        shown += at_terminal(project, *line)
    assert b"\x1b]0;" not in shown
    assert b"\x07" not in shown
    assert "\x9b".encode() not in shown
    assert (b"\x1b[38;5;" in shown or b"\x1b[32" in shown) is colour


def test_following_goes_on_until_the_end(project: Project) -> None:
    """`logs -f` prints lines as they come and ends with the run; `events -f` and `runs --follow` go on."""
    process = project.begin("run", "--inline", "gate.py")
    project.until_first()
    logs = project.begin("logs", "@last", "-f")
    events = project.begin("events", "@last", "-f", "--jsonl")
    runs = project.begin("runs", "--follow", "--jsonl")
    assert events.stdout is not None
    assert runs.stdout is not None
    assert json.loads(events.stdout.readline())["type"] == "run.queued"
    assert json.loads(runs.stdout.readline())["status"] == "running"
    project.go()
    process.communicate(timeout=LIMIT)
    logs.communicate(timeout=LIMIT)
    assert logs.returncode == 0
    until(lambda: events.stdout is not None and json.loads(events.stdout.readline())["type"] == "run.completed")
    until(lambda: runs.stdout is not None and json.loads(runs.stdout.readline())["status"] == "completed")
    for each in (events, runs):
        each.send_signal(signal.SIGINT)
        each.communicate(timeout=LIMIT)
        assert each.returncode == 130


def test_a_shell_completes_commands(project: Project) -> None:
    """The script's own question is answered with commands and options."""
    project.environment |= {"_RUNWRIGHT_COMPLETE": "bash_complete", "COMP_WORDS": "runwright sta", "COMP_CWORD": "1"}
    assert project.run().stdout.split() == ["plain,start", "plain,status"]
    project.environment |= {"COMP_WORDS": "runwright runs --fol", "COMP_CWORD": "2"}
    assert "--follow" in project.run().stdout
