"""A workflow whose file changed: refused with its name, shown, and accepted when somebody says so."""

from pathlib import Path

from support.command_line import CommandLine


def test_a_changed_file_is_refused_shown_and_accepted(cli: CommandLine) -> None:
    """`resume` names the file and changes nothing; `--accept-source` shows what differs and goes on."""
    cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", code=5)
    effect = cli("effects", "--state", "ambiguous", "--json").document["items"][0]["effect"]
    file = Path(".runwright/workflows/sample.py")
    more = "@sample.compute\ndef thank(ctx: Context[Order]) -> str:\n    return 'thanks'\n"
    file.write_text(f"{file.read_text()}\n\n{more}\n\nsample.then(deliver, thank)\n")
    cli("resolve", effect, "not-done", "--reason", "looked", code=0)
    refused = cli("resume", "@last", "--json", code=3).document["error"]
    assert refused["code"] == "source_changed"
    assert ".runwright/workflows/sample.py" in refused["message"]
    answer = cli("resume", "@last", "--accept-source", code=5)
    for words in ("file .runwright/workflows/sample.py differs", "node thank (compute) is new", "→ thank is new"):
        assert words in answer.err
    assert cli("show", "@last").out.count("thank")


def test_a_file_that_is_gone_parks_the_run(cli: CommandLine) -> None:
    """Without its file a run cannot go on, and says what is missing."""
    cli.queue("sample", "greet")
    Path(".runwright/workflows/sample.py").unlink()
    assert cli("resume", "@last", "--json", code=2).document["error"]["code"] == "workflow_not_found"
    assert cli("status", "@last", "--json").document["status"] == "queued"


WAITING = """
from datetime import timedelta
from typing import Any
from runwright import Context, Workflow, hours
waiting = Workflow("waiting")
rest = waiting.wait("rest", hours(1))
waiting.entry(rest)
"""
AFTER = """
@waiting.compute
def after(ctx: Context[Any]) -> int:
    return 1
waiting.then(rest, after)
"""


def test_changed_files_are_accepted_while_a_run_waits_for_its_time(cli: CommandLine) -> None:
    """What is shown as accepted is accepted, once; where nothing has changed the run is only shown."""
    file = Path("waiting.py")
    file.write_text(WAITING)
    cli("run", "--inline", "waiting.py", "--timeout", "0.5", code=5)
    file.write_text(WAITING + AFTER)
    for _ in range(2):
        answer = cli("resume", "@last", "--accept-source", "--timeout", "0.1", code=5)
        assert cli("events", "@last", "--type", "run.source_accepted", "--jsonl").out.count("\n") == 1
    assert "differs" not in answer.err
    assert "after" in cli("show", "@last").out


def test_a_run_that_has_not_begun_takes_no_other_files(cli: CommandLine) -> None:
    """Its start promised those that it was queued with: no hint leads to a flag that is refused again."""
    cli.queue("sample", "greet")
    file = Path(".runwright/workflows/sample.py")
    file.write_text(f"{file.read_text()}# changed\n")
    for flags in ((), ("--accept-source",)):
        refused = cli("resume", "@last", *flags, "--json", code=3).document["error"]
        assert refused["code"] == "source_changed"
        assert "cancel it and start it again" in refused["hint"]
        assert "--accept-source" not in refused["hint"]
