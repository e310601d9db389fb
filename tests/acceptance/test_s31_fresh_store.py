"""S31: a fresh store and its permissions."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from runwright.projections.layout import LAYOUT
from support.command_line import CommandLine

FLOW = """
from runwright import Context, Workflow
tiny = Workflow("tiny")
@tiny.compute
def only(ctx: Context) -> str:
    return "done"
tiny.entry(only)
"""


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_s31_a_fresh_store_is_owner_only_and_laid_out_exactly(cli: CommandLine, umask: int) -> None:
    """Created and reopened: schema 1, the exact layout, 0700 and 0600 whatever the umask, and one database."""
    Path("tiny.py").write_text(FLOW)
    before = os.umask(umask)
    try:
        cli("run", "--inline", "tiny.py")
        cli("run", "--inline", "tiny.py")
    finally:
        os.umask(before)
    assert stat.S_IMODE(cli.home.stat().st_mode) == 0o700
    for each in cli.home.rglob("*"):
        wanted = 0o700 if each.is_dir() else 0o600
        assert stat.S_IMODE(each.stat().st_mode) == wanted, each
    created = cli("events", "--type", "log.created", "--jsonl").lines
    assert [each["data"]["schema"] for each in created] == [1]
    assert created[0]["data"]["layout"] == LAYOUT.digest
    stores = {each.name for each in cli.home.iterdir() if each.is_file() and each.read_bytes()[:6] == b"SQLite"}
    # Views follow when there is time; they are no second database of facts.
    assert {"log.sqlite"} <= stores <= {"log.sqlite", "views.sqlite"}
    with closing(sqlite3.connect(f"file:{cli.home / 'log.sqlite'}?mode=ro", uri=True)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    assert version == 1
    assert cli("projections", "verify").code == 0
