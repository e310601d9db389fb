"""Why a run stands still: one word and one sentence for each reason, on every screen the same."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.cli.rendering.reasons import SENTENCES
from runwright.cli.rendering.run_lines import GOES_ON
from support.command_line import CommandLine
from support.command_processes import Project

FLOWS = Path(__file__).parent / "flows"
#: Page 05, "park reasons".
REASONS = (
    "worker_crashed", "host_stopped", "orphaned", "waiting", "paused", "provider_error", "worker_no_progress",
    "worker_unkillable", "source_changed", "environment_missing", "imported", "unsupported", "protocol_rejected",
    "effect_ambiguous",
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project folder with the gated workflow."""
    made = Project(tmp_path, FLOWS / "gate.py")
    yield made
    made.close()


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_a_sentence(reason: str) -> None:
    """A sentence for people, without the code; those that go on by themselves share one."""
    assert reason not in SENTENCES[reason] or reason in ("paused",)
    assert "_" not in SENTENCES[reason]
    assert {SENTENCES[each] for each in GOES_ON} == {SENTENCES["orphaned"]}


def test_a_killed_run_is_interrupted_everywhere(project: Project) -> None:
    """One word and one sentence, and never queued and running at once; the line to type stands below."""
    process = project.begin("run", "--inline", "gate.py")
    project.until_first()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    for line in (("status",), ("status", "@last"), ("show", "@last"), ("runs",), ("show", "@last", "first")):
        shown = project.run(*line).stdout
        assert "interrupted" in shown, line
        words = shown.replace("░ queued  █ running  ▒ waiting", "").replace("  queued  ", "")
        assert "running" not in words, line
        assert "○ queued" not in words, line
        if line[0] == "status":
            assert "interrupted: the process that drove it is gone" in shown
            assert "runwright resume 0" in shown


def test_a_paused_run_says_who_has_to_go_on(cli: CommandLine) -> None:
    """Sentences on the screen, codes in the document."""
    cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", code=5)
    assert "nobody can tell whether its effect happened" in cli("status").out
    assert cli("status", "@last", "--json").document["reason"]["code"] == "effect_ambiguous"
