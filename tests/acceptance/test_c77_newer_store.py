"""C77: a newer store is refused before a byte is written; an unknown event stops whoever meets it, visibly."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest

from runwright.engine.authoring.conversion import NotConvertible
from runwright.engine.graph.definition import Definition
from support.command_line import CommandLine
from support.every_command import COMMANDS, WITHOUT, every_name, name_of
from support.sound import contents
from support.unknown_event import append_unknown

#: What is taken before the store is looked at, and what a host writes its own words into.
BESIDE = {"host.lock", "host.log"}


def test_c77_knows_every_command() -> None:
    """C77: one that is new is tried on a newer store as well, or said to need none."""
    tried = {name_of(line) for line in COMMANDS}
    assert tried | WITHOUT == every_name()


def test_c77_every_command_refuses_a_newer_store(cli: CommandLine) -> None:
    """C77: both versions and the path are named, and no file changes."""
    cli("run", "--inline", "world.py:four")
    with closing(sqlite3.connect(cli.home / "log.sqlite", isolation_level=None)) as shell:
        shell.execute("PRAGMA user_version=2")
        shell.execute("PRAGMA journal_mode=DELETE")
    before = stored(cli)
    for line in COMMANDS:
        flags = {"log export": (), "watch": ("--jsonl",)}.get(" ".join(line), ("--json",))
        answer = cli.ask(*line, *flags)
        assert answer.code == 4, (line, answer)
        if flags:
            failure = answer.document["error"]
            assert failure["code"] == "store_newer", line
            assert all(word in failure["message"] for word in (str(cli.home), "2", "1"))
        assert stored(cli) == before, line
    assert not (cli.project / "copy.sqlite").exists()


def stored(cli: CommandLine) -> dict[str, str]:
    """What stands in the state directory."""
    return {path: digest for path, digest in contents(cli.home).items() if Path(path).name not in BESIDE}


def test_c77_an_unknown_event_is_never_skipped(cli: CommandLine) -> None:
    """C77: the chain still verifies; what has to understand the event says which one, at which position."""
    cli("run", "--inline", "world.py:four")
    run_id = cli.run_id()
    position = append_unknown(cli.home, f"run/{run_id}", "run.teleported")
    cli("log", "verify")
    for line in (("replay", run_id), ("projections", "verify"), ("projections", "rebuild"), ("show", run_id)):
        failure = cli(*line, "--json", code=4).document["error"]
        assert failure["code"] == "unknown_event", line
        assert "run.teleported" in failure["message"]
        assert str(position) in failure["message"]
    # What needs no understanding still works: the lines of an export are the stored texts.
    assert "run.teleported" in cli("log", "export").out
    assert cli("status", run_id, "--json").document["status"] == "completed"


def test_c77_a_run_that_a_newer_version_recorded_can_be_left_to_it_or_cancelled(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C77: its workflow stands there in a form that is not known: every look shows it, and a cancel ends it."""
    cli("run", "--inline", "asking.py:asking", code=5)
    run_id = cli.run_id()

    def unknown(_: object) -> NoReturn:
        raise NotConvertible("has a field that is not known")

    monkeypatch.setattr(Definition, "from_snapshot", unknown)
    for line in (("status", run_id), ("show", run_id), ("runs",), ("requests",), ("replay", run_id)):
        cli(*line)
    cli("pause", run_id)
    failure = cli("resume", run_id, "--json", code=3).document["error"]
    assert failure["code"] == "unsupported"
    assert "cannot follow" in failure["message"]
    assert "cancel the run" in failure["hint"]
    cli("cancel", run_id)
    assert cli("status", run_id, "--json").document["status"] == "cancelled"
