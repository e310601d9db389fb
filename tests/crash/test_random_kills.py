"""A program killed with SIGKILL at any moment is carried on to the same end."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from support.crash_world import FLOWS, run_program, start_program
from support.driving_on import check_ledger, check_store, drive_on, look_at

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))
KILLS = max(1, round(10 * DEPTH))


@pytest.mark.parametrize("flow", sorted(FLOWS))
def test_killed_at_random_moments(flow: str, tmp_path: Path) -> None:
    """Whenever the kill comes, nothing that finished runs again, and the run ends as if nothing had happened."""
    moments = random.Random(flow)
    assert run_program(tmp_path / "state", flow, tmp_path / "ledger") == 0
    started = time.monotonic()
    assert run_program(tmp_path / "again", flow, tmp_path / "ledger-again") == 0
    whole = time.monotonic() - started
    expected = drive_on(tmp_path / "state", flow, tmp_path / "ledger")
    for number in range(KILLS):
        home, ledger = tmp_path / f"state-{number}", tmp_path / f"ledger-{number}"
        process = start_program(home, flow, ledger)
        process.join(moments.uniform(0, whole))
        process.kill()
        process.join(60)
        assert process.exitcode in (0, -signal.SIGKILL)
        process.close()
        wreck = look_at(home, ledger)
        assert drive_on(home, flow, ledger) == expected
        check_ledger(wreck, ledger, kills=1)
        check_store(home)
