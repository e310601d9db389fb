"""A program killed right before or after any of its commits is carried on to the same end."""

import json
import os
import signal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from support.crash_world import FLOWS, When, run_program
from support.driving_on import check_ledger, check_store, drive_on, look_at

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))

#: Commits that the longest scenario makes, with some room: a boundary behind its last commit kills nothing.
MOST = 32


@cache
def undisturbed(flow: str) -> tuple[dict[str, Any], int]:
    """What a run comes to that nobody kills, and how many commits its program makes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        assert run_program(folder / "state", flow, folder / "ledger", count=folder / "count") == 0
        facts = drive_on(folder / "state", flow, folder / "ledger")
        check_store(folder / "state")
        return facts, json.loads((folder / "count").read_text())


@pytest.mark.parametrize("flow", sorted(FLOWS))
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_every_commit(flow: str, when: When, tmp_path: Path) -> None:
    """The reopened engine goes on from every commit boundary to the same terminal facts."""
    expected, commits = undisturbed(flow)
    assert commits < MOST
    kills = 0
    for number in range(1, commits + 1):
        home, ledger = tmp_path / f"state-{number}", tmp_path / f"ledger-{number}"
        killed = run_program(home, flow, ledger, (number, when))
        # Group commit may do the same work in fewer commits than the first time.
        assert killed in (0, -signal.SIGKILL)
        kills += killed != 0
        wreck = look_at(home, ledger)
        assert drive_on(home, flow, ledger) == expected, f"killed {when} commit {number}"
        check_ledger(wreck, ledger, kills=1)
        check_store(home)
    assert kills > commits / 2


@pytest.mark.parametrize("first", range(3, 3 + round(6 * DEPTH)))
def test_killed_again_while_it_recovers(first: int, tmp_path: Path) -> None:
    """A second kill during recovery changes nothing either: doing it twice adds only epochs."""
    expected, commits = undisturbed("safe")
    for second in range(1, 5):
        home, ledger = tmp_path / f"state-{second}", tmp_path / f"ledger-{second}"
        run_program(home, "safe", ledger, (first % commits + 1, "after"))
        run_program(home, "safe", ledger, (second, "before"))
        wreck = look_at(home, ledger)
        assert drive_on(home, "safe", ledger) == expected
        check_ledger(wreck, ledger, kills=2)
        check_store(home)
