"""What becomes of a run that is shown, or asked about, when its host is killed: the next one gets all that it needs."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_processes import LIMIT, Project, until
from support.terminals import AtTerminal

FLOWS = Path(__file__).parent / "flows"
REVIEWER = ("--agent", """cmd:echo '{"verdict": "clean", "count": 1}'""")
#: Says that it was asked, and answers once it may.
SLOW = """cmd:sh -c 'echo first >> ledger; while [ ! -e go ]; do sleep 0.02; done; echo "\\"said\\""'"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project folder with workflows that ask, and processes in it."""
    (tmp_path / ".runwright").mkdir()
    made = Project(tmp_path, FLOWS / "asking.py")
    shutil.copy(FLOWS / "handed.py", tmp_path)
    (tmp_path / ".runwright" / "config.toml").write_text('pass_env = ["TOKEN"]\n')
    made.environment |= {"RUNWRIGHT_IDLE_EXIT": "60", "TOKEN": "four"}
    yield made
    made.go()
    made.run("host", "stop")
    made.close()


def kill_host(project: Project) -> None:
    """End the host without a word, and see that it is gone."""
    os.kill(json.loads(project.run("store", "status", "--json").stdout)["pid"], signal.SIGKILL)
    until(lambda: not json.loads(project.run("store", "status", "--json").stdout)["held"])


def test_a_shown_run_gets_back_what_it_was_started_with(project: Project) -> None:
    """The next host lacks the executor; the command that shows the run has it still."""
    shown = project.begin("run", "handed.py", "--agent", SLOW)
    project.until_first()
    os.kill(json.loads(project.run("store", "status", "--json").stdout)["pid"], signal.SIGKILL)
    until(lambda: project.ledger.read_text().count("first") == 2)
    project.go()
    err = shown.communicate(timeout=LIMIT)[1]
    assert "waits for a decision" in err
    assert "environment_missing" not in err


def test_a_shown_run_that_never_started_gets_it_back_too(project: Project) -> None:
    """It keeps its place in the queue of the next host, which lacks the executor, and parks for nothing."""
    project.environment["RUNWRIGHT_CAPACITY"] = "1"
    shutil.copy(FLOWS / "gate.py", project.folder)
    project.run("start", "gate.py")
    project.until_first()
    shown = project.begin("run", "handed.py", "--agent", SLOW)
    until(lambda: "handed" in project.run("runs").stdout)
    kill_host(project)
    project.go()
    assert "waits for a decision" in shown.communicate(timeout=LIMIT)[1]


def test_a_deadline_is_kept_while_its_question_is_shown(project: Project) -> None:
    """Nobody types anything: the next host lets policy decide, and the run goes on to its end."""
    with AtTerminal("run", "asking.py:hasty", *REVIEWER, cwd=project.folder, environment=project.environment) as at:
        at.see("choice> ")
        kill_host(project)
        at.see("It was decided: reject, by policy")
        assert at.end().rstrip().endswith("reject None")


def test_a_deadline_is_kept_while_somebody_answers(project: Project) -> None:
    """`answer` shows the question; a host that lived when it began is followed by the next one."""
    project.run("run", "asking.py:hasty", *REVIEWER, code=5)
    with AtTerminal("answer", "@last", cwd=project.folder, environment=project.environment) as at:
        at.see("choice> ")
        kill_host(project)
        at.see("It was decided: reject, by policy")
        at.end(3)


def test_a_run_that_lacks_its_executor_says_what_to_type(project: Project) -> None:
    """The reason once, without the run's ID; the line names the executor, and works once its SPEC is put in."""
    run_id = project.run("start", "handed.py", "--agent", SLOW).stdout.strip()
    project.until_first()
    kill_host(project)
    project.run("host", "start")
    until(lambda: "environment_missing" in project.run("status", run_id).stdout)
    line = f"runwright resume {run_id} --agent default=SPEC"
    for look in (("status", run_id), ("status",)):
        shown = project.run(*look).stdout
        assert line in shown
        assert "what is kept in memory only is not here any more: executor 'default'" in " ".join(shown.split())
        assert "something that it needs" not in shown
    project.go()
    typed = line.replace("SPEC", SLOW).removeprefix("runwright ").split(maxsplit=3)
    assert "waits for a decision" in project.run(*typed, code=5).stderr


def test_a_run_whose_deadline_nobody_keeps_says_so(project: Project) -> None:
    """Once its time is up and no host lives, every look names the line that has it decided."""
    run_id = project.run("start", "asking.py:hasty", *REVIEWER).stdout.strip()
    project.run("wait", run_id, "--until", "waiting")
    kill_host(project)
    until(lambda: "that time is up, and no host lives" in " ".join(project.run("status", run_id).stdout.split()))
    for look in (("status", run_id), ("status",), ("runs",)):
        found = project.run(*look)
        assert "runwright host start" in found.stdout + found.stderr, look
    project.run("host", "start")
    until(lambda: "waits for a decision" not in project.run("status", run_id).stdout)
