"""Whom an open question is for: what a person can do something about, and what an agent is at work on."""

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from runwright.cli.rendering.questions import questions_screen
from runwright.engine.reading.requests import Request
from support.command_processes import Project, until

FLOWS = Path(__file__).parent / "flows"
#: Answers once it may.
AGENT = """cmd:sh -c 'while [ ! -e go ]; do sleep 0.02; done; echo "{\\"verdict\\": \\"clean\\", \\"count\\": 1}"'"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project folder with the workflow that asks an agent, then a person."""
    made = Project(tmp_path, FLOWS / "asking.py")
    made.environment["RUNWRIGHT_IDLE_EXIT"] = "60"
    yield made
    made.go()
    made.run("host", "stop")
    made.close()


def test_what_an_agent_is_at_work_on_waits_for_nobody_else(project: Project) -> None:
    """No screen asks the person for it, nor prints a line that is refused; the decision behind it is theirs."""
    run_id = project.run("start", "asking.py:asking", "--agent", AGENT).stdout.strip()
    until(lambda: "it asks its agent at review" in project.run("status").stdout)
    assert "Waits for you" not in project.run("status").stdout
    assert "waits for you" not in project.run("host", "status").stdout
    asked = project.run("requests").stdout
    assert "its agent is at work on it" in asked
    assert "runwright answer" not in asked
    assert run_id not in project.run("runs").stderr
    project.go()
    until(lambda: "it waits for a decision at decide" in project.run("status").stdout)
    request = json.loads(project.run("requests", "--json").stdout)["items"][0]["request_id"]
    assert f"runwright answer {request}" in project.run("status").stdout
    assert "Waits for you" in project.run("status").stdout
    told = " ".join(project.run("runs").stderr.split())
    assert "stands still" not in told
    assert "goes on at" in told
    assert f"), or when you type: runwright answer {request}" in told
    project.run("pause", run_id)
    paused = project.run("requests").stdout
    assert "its run is paused; first:" in paused
    assert f"runwright resume {run_id}" in paused
    assert "runwright answer" not in paused


@pytest.mark.parametrize(
    ("state", "line", "shown"),
    [("waiting", (), "session s1 answers it"), ("paused", ("runwright resume run",), "runwright resume run")],
)
def test_a_sessions_question_is_its_own_until_its_run_is_paused(state: str, line: tuple[str, ...], shown: str) -> None:
    """Nobody answers for it; of a paused run the line that lets it go on."""
    asked = Request(
        request_id="request", run_id="run", kind="agent", path="ask", prompt="What?", choices=(), schema={},
        deadline=None, opened_at=datetime.now(UTC), session="s1",
    )  # fmt: skip
    status = cast(Any, SimpleNamespace(status=state, ended=False, driven=True, run_status="running", next=line))
    written = io.StringIO()
    Console(file=written, width=100).print(*questions_screen([asked], {"run": status}, 0))
    assert shown in written.getvalue()
    assert "runwright answer" not in written.getvalue()
