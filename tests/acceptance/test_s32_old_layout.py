"""S32: a store of another layout is refused and left as it is; the way on is named and works."""

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from support.command_line import CommandLine

FLOW = """
from runwright import Context, Workflow
tiny = Workflow("tiny")
@tiny.compute
def only(ctx: Context) -> str:
    return "done"
tiny.entry(only)
"""

Change = Callable[[sqlite3.Connection], object]


def column_missing(connection: sqlite3.Connection) -> None:
    """Take a column away, as an older version lacked it."""
    connection.execute("ALTER TABLE timers DROP COLUMN set_at")


def former_status(connection: sqlite3.Connection) -> None:
    """Let a table be one in which a run could be `claimed`."""
    connection.execute("ALTER TABLE queue ADD COLUMN claimed_status TEXT DEFAULT 'claimed'")


def old_notices(connection: sqlite3.Connection) -> None:
    """Leave a table of pending notices of an older version behind."""
    connection.execute("CREATE TABLE notices(id INTEGER PRIMARY KEY, pending INTEGER)")
    connection.execute("INSERT INTO notices VALUES (1, 1)")


def bytes_of(folder: Path) -> dict[str, str]:
    """The digest of every file below a folder."""
    return {
        str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }


@pytest.mark.parametrize("change", [column_missing, former_status, old_notices])
def test_s32_another_layout_is_refused_untouched(cli: CommandLine, change: Change) -> None:
    """Every command that needs the tables refuses with the way on; no byte changes; a store moved aside is replaced."""
    Path("tiny.py").write_text(FLOW)
    cli("run", "--inline", "tiny.py")
    run = cli.run_id()
    evidence = cli.home / "runs" / run / "scratch" / "evidence.txt"
    evidence.write_text("kept")
    connection = sqlite3.connect(cli.home / "log.sqlite", isolation_level=None)
    change(connection)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    before = bytes_of(cli.home)
    for line in (
        ("run", "tiny.py"),
        ("start", "tiny.py"),
        ("status",),
        ("resume", run),
        ("cancel", run),
        ("store", "status"),
    ):
        failure = cli(*line, "--json", code=4).document["error"]
        assert failure["code"] == "store_layout"
        assert "export" in failure["hint"]
        assert "import" in failure["hint"]
    assert bytes_of(cli.home) == before

    # The table of events is all that the way on needs.
    cli("log", "verify")
    cli("log", "export", "--with-values", "-o", "whole.jsonl")
    assert cli("replay", run, "--from", "whole.jsonl", "--json").document["rows"]["runs"][0]["status"] == "completed"
    assert bytes_of(cli.home) == before
    shutil.move(cli.home, cli.home.with_name("aside"))
    cli("store", "import", "whole.jsonl")
    cli("store", "adopt")
    assert cli("output", run).out == "done\n"
    assert (cli.home.with_name("aside") / "runs" / run / "scratch" / "evidence.txt").read_text() == "kept"
    cli("run", "--inline", "tiny.py")
