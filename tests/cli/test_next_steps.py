"""What an error says to do next is what helps with the thing that was typed."""

import shutil
from pathlib import Path

import pytest

from support.command_line import CommandLine

FLOWS = Path(__file__).parent / "flows"


@pytest.fixture
def review(cli: CommandLine) -> CommandLine:
    """A command line with a workflow that asks a person, and one with several workflows that ask an agent."""
    for name in ("review.py", "asking.py"):
        shutil.copy(FLOWS / name, cli.project / name)
    return cli


def said(cli: CommandLine, *line: str, code: int) -> str:
    """What a refused command says, on one line."""
    return " ".join(cli(*line, code=code).err.split())


def test_a_file_with_several_workflows_needs_a_name(review: CommandLine) -> None:
    """Nothing is wrong with the file."""
    shown = " ".join(review("check", "asking.py", code=1).out.split())
    assert "name one: asking.py:asking, asking.py:hasty" in shown
    assert "Write FILE:NAME" in shown
    assert "Correct the file" not in shown


def test_an_executor_that_is_none_is_named(review: CommandLine) -> None:
    """What was typed is no known kind; where none was typed, the option is named, and nothing for programs."""
    assert "'foo' is no kind of executor" in said(
        review, "run", "--inline", "asking.py:asking", "--agent", "foo", code=2
    )
    missing = said(review, "run", "--inline", "asking.py:asking", code=2)
    assert "--agent [NAME=]cmd:COMMAND" in missing
    assert "Engine.open" not in missing


def test_a_file_that_is_not_there_is_named_as_it_was_typed(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its project may be a folder below: the path from there is nothing that anybody typed."""
    notes = cli.project.parent / "outside" / "mine"
    notes.mkdir(parents=True)
    monkeypatch.chdir(notes.parent)
    for line in (("run", "--inline"), ("check",), ("run",)):
        assert "'mine/notes.py' was not found" in said(cli, *line, "mine/notes.py", code=2), line


def test_a_restart_offers_what_the_run_came_to(review: CommandLine) -> None:
    """Another node is refused, so it is not named."""
    review("run", "--inline", "review.py", code=5)
    parent = review.run_id()
    review("cancel", parent)
    assert said(review, "restart", parent, "--at", "nope", code=2).count("publish") == 0
    assert "The nodes to begin at: " in said(review, "restart", parent, "--at", "nope", code=2)
    assert "approve" in said(review, "restart", parent, "--at", "nope", code=2)


SHELL = """
from pathlib import Path
from runwright import Context, JsonObject, Workflow, seconds

publishing: Workflow[JsonObject] = Workflow("publishing")

@publishing.shell(timeout=seconds(0.3), recovery="manual")
def publish(ctx: Context[JsonObject]) -> list[str]:
    return ["sleep", "60"]

publishing.entry(publish)
"""


def test_the_result_of_a_shell_node_is_shown_whole(cli: CommandLine) -> None:
    """A text in quotation marks, which the hint showed, fits no shell node; what it shows now does."""
    (cli.project / "publishing.py").write_text(SHELL)
    cli("run", "--inline", "publishing.py", code=5)
    effect = cli("effects", "--json").document["items"][0]["effect"]
    refused = said(cli, "resolve", effect, "done", "--result", '"published"', "--reason", "seen", code=2)
    assert """--result '{"stdout": "published"}'""" in refused
    assert "two kinds of quotation marks" not in refused
    cli("resolve", effect, "done", "--result", '{"stdout": "published"}', "--reason", "seen")


def test_a_node_that_ran_before_the_answer_is_shown_there(review: CommandLine) -> None:
    """The graph of the child shows it as done; its visits stand in the parent."""
    review("run", "--inline", "review.py", code=5)
    parent = review.run_id()
    review("answer", parent, '{"word": "yes"}')
    refused = said(review, "show", review.run_id(), "approve", code=2)
    assert f"which goes on from {parent}" in refused
    assert f"runwright show {parent} approve" in refused
    review("show", parent, "approve")


def test_a_parked_run_is_not_said_to_run(cli: CommandLine) -> None:
    """It has no output, for it is parked."""
    cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", code=5)
    assert "has no output: it is parked" in said(cli, "output", "@last", code=2)


def test_the_head_that_a_stopped_host_leaves_is_called_one(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words on stderr; on stdout it stands alone."""
    monkeypatch.setenv("RUNWRIGHT_IDLE_EXIT", "60")
    cli("host", "start")
    stopped = cli("host", "stop")
    assert stopped.out.strip() == cli("log", "head").out.strip()
    assert "Keep this head of its log" in stopped.err
