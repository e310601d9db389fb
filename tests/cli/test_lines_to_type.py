"""Lines that carry a run on work as they are typed: they name its executors, and a command only to whoever gave it."""

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.command_processes import Project
from support.terminals import AtTerminal

FLOWS = Path(__file__).parent / "flows"
#: Says that it was asked, and answers once it may.
SLOW = """cmd:sh -c 'echo first >> ledger; while [ ! -e go ]; do sleep 0.02; done; echo "\\"said\\""'"""
CTRL_C = b"\x03"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project folder with a workflow that needs an executor and a variable, and processes in it."""
    (tmp_path / ".runwright").mkdir()
    made = Project(tmp_path, FLOWS / "handed.py")
    made.environment |= {"TOKEN": "four"}
    yield made
    made.go()
    made.run("host", "stop")
    made.close()


def line_in(shown: str) -> list[str]:
    """The words of the line to type that stands last, without the program's name."""
    return shlex.split([each for each in shown.splitlines() if each.startswith("    runwright ")][-1])[1:]


def interrupted(project: Project, *line: str) -> str:
    """Begin a run at a terminal, have it pause behind its first node, and answer what stood there at the end."""
    with AtTerminal(*line, cwd=project.folder, environment=project.environment) as at:
        project.until_first()
        at.press(CTRL_C).see("pausing at the next step")
        project.go()
        return at.end(5)


@pytest.mark.parametrize("where", [("--inline",), ()])
def test_who_interrupts_a_run_is_told_the_line_with_what_they_gave(project: Project, where: tuple[str, ...]) -> None:
    """It works as it stands there, also once the process is gone that had the executor in memory."""
    words = line_in(interrupted(project, "run", *where, "handed.py", "--agent", SLOW))
    assert words[2:] == ["--agent", f"default={SLOW}"]
    project.run("host", "stop")
    assert "waits for a decision" in project.run(*words, code=5).stderr


def test_everybody_else_is_told_which_executors_it_takes(project: Project) -> None:
    """A command may hold what is for nobody else, so only its name is read from the store, or goes into a pipe."""
    interrupted(project, "run", "--inline", "handed.py", "--agent", SLOW)
    document = json.loads(project.run("status", "@last", "--json").stdout)
    line = f"runwright resume {document['run_id']} --agent default=SPEC"
    assert document["next"] == [line]
    looks = (("status",), ("status", "@last"), ("show", "@last"), ("runs",), ("wait", "@last", "--timeout", "0"))
    for look in looks:
        found = project.run(*look, code=5 if look[0] == "wait" else 0)
        assert f"    {line}\n" in found.stdout + found.stderr, look
    refused = project.run("resume", "@last", code=3).stderr
    assert f"`{line}` hands it over" in refused
    piped = project.run("resume", "@last", "--agent", SLOW, "--timeout", "0", code=5).stderr
    assert "ledger" not in piped


def test_an_executor_of_the_settings_is_not_named(project: Project) -> None:
    """Where it is found again by itself, the bare line works."""
    (project.folder / ".runwright" / "config.toml").write_text(f"default_agent = {json.dumps(SLOW)}\n")
    interrupted(project, "run", "--inline", "handed.py")
    words = line_in(project.run("status", "@last").stdout)
    assert words == ["resume", json.loads(project.run("status", "@last", "--json").stdout)["run_id"]]
    assert "waits for a decision" in project.run(*words, code=5).stderr


def test_a_restart_is_handed_what_went_with_the_run_that_failed(project: Project) -> None:
    """What was handed over is forgotten at the end of a run, so its line and that of the restart name it."""
    del project.environment["TOKEN"]
    project.go()
    project.run("run", "--inline", "handed.py", "--agent", SLOW, code=5)
    with AtTerminal("answer", "@last", cwd=project.folder, environment=project.environment) as at:
        at.see("choice> ").type("yes")
        assert line_in(at.end())[2:] == ["--agent", "default=SPEC"]
    with AtTerminal("resume", "@last", "--agent", SLOW, cwd=project.folder, environment=project.environment) as at:
        words = line_in(at.end(1))
    assert words[0] == "restart"
    assert words[2:] == ["--agent", f"default={SLOW}"]
    with AtTerminal(*words, cwd=project.folder, environment=project.environment) as at:
        again = line_in(at.end())
    assert again[0] == "resume"
    assert again[1] != words[1]
    assert again[2:] == words[2:]


def test_a_line_reaches_the_store_that_it_is_about(cli: CommandLine) -> None:
    """Where flags said which store and project that is, each line has them; what is only shown stays as it is."""
    given = ("--home", "o ther", "--project", ".")
    program = "runwright --home 'o ther' --project ."
    told = cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", *given, code=5).err
    assert f"    {program} resolve " in told
    assert f"    {program} resolve " in cli("status", *given).out
    assert f"    {program} resolve " in cli("status", "@last", *given).out
    assert f"`{program} runs`" in cli("show", "zzzz", *given, code=2).err
    document = cli("status", "@last", "--json", *given).document
    assert document["next"][0].startswith("runwright resolve ")
    assert f": {program} store adopt" in _imported(cli, given)
    cli("run", "--inline", "sample", "greet")
    assert "`runwright runs`" in cli("show", "zzzz", code=2).err


def _imported(cli: CommandLine, given: tuple[str, ...]) -> str:
    cli("log", "export", "--with-values", "-o", "whole.jsonl", *given)
    shutil.rmtree("o ther")
    return cli("store", "import", "whole.jsonl", *given).err


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        (("start", "sample", "x", "--key", "a b"), "Example: --key nightly-2026-01-31"),
        (("run", "sample", "-s", "a"), "Example: -s path=. -s top:=20"),
        (("events", "--after", "-1"), "See `runwright events --help`."),
    ],
)
def test_no_full_stop_is_copied_with_a_line(cli: CommandLine, line: tuple[str, ...], hint: str) -> None:
    """A line at the end of a hint ends it; one in backticks stands in a sentence."""
    assert cli(*line, code=2).err.endswith(f"hint:  {hint}\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("events", "--after", "-1"), "--after takes a whole number from 0 on."),
        (("runs", "--limit", "x"), "--limit takes a whole number from 1 to 100000."),
        (("events", "--type", "run.startd"), "Did you mean run.started?"),
        (("query", "runs", "--sort", "foo"), "The projection runs has no field 'foo'"),
        (("config", "--unset"), "There is no KEY to set or remove."),
    ],
)
def test_what_was_typed_is_refused_in_words(cli: CommandLine, line: tuple[str, ...], message: str) -> None:
    """With the name that was typed, and the bound that was met."""
    cli("run", "--inline", "sample", "greet")
    assert message in " ".join(cli(*line, code=2).err.split())
