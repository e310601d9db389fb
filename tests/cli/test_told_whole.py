"""Whoever has a run shown is told all of it, once and in order, however late they look and whatever carries it on."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.cli.hosted_starts import HostedStart
from runwright.cli.invocation import Invocation
from runwright.engine.client.client import Client
from support.command_line import CommandLine
from support.command_processes import LIMIT, Project, until
from support.terminals import AtTerminal

FLOWS = Path(__file__).parent / "flows"


@pytest.fixture
def hosted(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A command line over a host, with what tells."""
    monkeypatch.setenv("RUNWRIGHT_IDLE_EXIT", "60")
    for name in ("telling.py", "gate.py"):
        shutil.copy(FLOWS / name, cli.project / name)
    return cli


def ended(client: Client, run_id: str) -> None:
    """Wait until a run has ended."""
    until(lambda: client.run_status(run_id)["finished_at"] is not None)


def marked(text: str) -> list[str]:
    """The lines about steps and notifications, each by its mark and its node."""
    lines = [each.split() for each in text.splitlines()]
    return [f"{each[0]} {each[1]}" for each in lines if each and each[0] in ("✓", "»") and each[1] != "completed"]


def test_a_run_that_ended_before_anybody_looked_is_told_from_its_first_event(
    hosted: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host goes on while the command that asked for the run is still about to look."""
    queue = HostedStart.queue

    def late(self: HostedStart, call: Invocation, client: Client, *, key: str | None = None) -> str:
        run_id = queue(self, call, client, key=key)
        ended(client, run_id)
        return run_id

    monkeypatch.setattr(HostedStart, "queue", late)
    told = marked(hosted("run", "telling.py").err)
    assert told == ["✓ work", "» half", "✓ half", "» done", "✓ done"]


def test_a_run_that_went_on_before_anybody_looked_is_told_from_there(
    hosted: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`resume` tells what came after it was typed, and nothing of what stood there before."""
    run_id = hosted("start", "gate.py").out.strip()
    until((hosted.project / "ledger").exists)
    hosted("pause", run_id)
    (hosted.project / "go").touch()
    hosted("wait", run_id, "--until", "waiting")
    resume = Client.run_resume

    def late(self: Client, run_id: str, **given: object) -> object:
        answer = resume.__get__(self, Client)(run_id, **given)  # type: ignore[arg-type]  # handed on as it came
        ended(self, run_id)
        return answer

    monkeypatch.setattr(Client, "run_resume", late)
    assert marked(hosted("resume", run_id).err) == ["✓ rest", "✓ second"]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project with what tells before it asks, and behind the answer."""
    (tmp_path / ".runwright").mkdir()
    made = Project(tmp_path, FLOWS / "asked_behind.py")
    yield made
    made.run("host", "stop")
    made.close()


@pytest.mark.parametrize("way", [(), ("--inline",)])
def test_what_was_told_stands_above_the_question_and_stays(project: Project, way: tuple[str, ...]) -> None:
    """Also behind the answer; a line keeps its blanks, and the time of a part is not taken for that of the whole."""
    with AtTerminal("run", *way, "asked_behind.py", cwd=project.folder, environment=project.environment) as at:
        at.see("choice> ").type("go")
        at.see("» tell  Decided: go.").see("Which word?").see("word (string)> ").type("north")
        screen = at.end()
    assert screen.rindex("» tell_more  Answered: north.") > screen.rindex("Which word?") > screen.rindex("» tell  ")
    assert "  │   two  blanks\n" in screen
    assert "✓ completed  behind" in screen
    assert screen.partition("Which word?")[2].count("» tell  ") == 0
    assert screen.rstrip().endswith("north")


def test_leaving_a_watch_says_how_to_come_back(project: Project) -> None:
    """Ctrl-C is what it says there, and no interruption of anything."""
    project.run("run", "asked_behind.py", code=5)
    watching = project.begin("watch", "@last")
    assert watching.stderr is not None
    watching.stderr.readline()
    watching.send_signal(signal.SIGINT)
    _, err = watching.communicate(timeout=LIMIT)
    assert watching.returncode == 130
    assert err.endswith("Nothing was stopped. Watch again with: runwright watch @last\n")
