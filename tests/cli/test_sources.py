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


ASKING = """
from typing import Any
from runwright import Context, Workflow
asking = Workflow("asking")
@asking.compute
def before(ctx: Context[Any]) -> int:
    return 1
@asking.checkpoint(summary="Go on?")
def ask(ctx: Context[Any]) -> dict[str, int]:
    return {"n": ctx.output(before)}
asking.entry(before)
asking.then(before, ask)
"""
BEHIND = """
@asking.compute
def behind(ctx: Context[Any]) -> int:
    return 2
asking.then(ask, behind)
"""


def test_a_restart_takes_what_was_accepted_for_the_run_it_restarts(cli: CommandLine) -> None:
    """Whose files are the root's again, is a restart of that; any others are refused with a step that can be taken."""
    file = Path("asking.py")
    file.write_text(ASKING)
    cli("run", "--inline", "asking.py", code=5)
    cli("cancel", "@last")
    first = str(cli("status", "@last", "--json").document["run_id"])
    cli("restart", "@last")
    cli("resume", "@last", code=5)
    file.write_text(ASKING + BEHIND)
    cli("resume", "@last", "--accept-source", code=5)
    cli("cancel", "@last")
    second = str(cli("status", "@last", "--json").document["run_id"])
    for at in ((), ("--at", "ask")):
        cli("restart", second, *at)
        cli("resume", "@last", code=5)
        assert "behind" in cli("show", "@last").out
        assert cli("status", "@last", "--json").document["root_run_id"] == first
    refused = cli("restart", first, code=3).err
    assert "`runwright start asking.py`" in refused
    assert "resume" not in refused
    cli("run", "--inline", "asking.py", code=5)
    file.write_text(ASKING)
    cli("restart", second)
    cli("resume", "@last", code=5)
    assert "behind" not in cli("show", "@last").out
