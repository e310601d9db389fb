"""Hosts killed at random moments while clients go on asking: what was acknowledged ends, and nothing happens twice."""

import os
import random
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.client.client import Client
from support.hosts import Hosted, hosted
from support.sound import check_sound

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))
KILLS = max(1, round(3 * DEPTH))
CLIENTS = 2

FLOW = '''
"""Steps that leave a line each, one of them behind a manual effect."""
import os
import time

from runwright import Context, JsonObject, Workflow

flow = Workflow("lines")


def leave(ctx: Context[JsonObject], what: str) -> None:
    ledger = os.open(ctx.cwd / "ledger", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(ledger, f"{ctx.run_id} {what}\\n".encode())
    os.close(ledger)


@flow.compute
def first(ctx: Context[JsonObject]) -> int:
    time.sleep(0.02)
    return 1

@flow.action(recovery="manual")
def pay(ctx: Context[JsonObject]) -> int:
    leave(ctx, "pay")
    time.sleep(0.01)
    return 2

@flow.action(recovery="idempotent")
def post(ctx: Context[JsonObject]) -> int:
    leave(ctx, "post")
    return ctx.output(pay) + 1

flow.entry(first)
flow.then(first, pay)
flow.then(pay, post)
'''


class Asker(threading.Thread):
    """Starts runs one after another until it is told to stop, each under a key of its own.

    Attributes:
        runs: What was acknowledged.
        error: What ended it early.
    """

    def __init__(self, at: Hosted, number: int) -> None:
        super().__init__(name=f"asker {number}")
        self.runs: list[str] = []
        self.error: Exception | None = None
        self.enough = threading.Event()
        self._at = at
        self._number = number

    def run(self) -> None:
        """Ask; a connection that was lost is the client's own matter."""
        try:
            self._ask()
        except Exception as error:  # noqa: BLE001 - the test tells it
            self.error = error

    def _ask(self) -> None:
        at = self._at
        with Client.connect(at.home, patience=60) as client:
            while not self.enough.is_set():
                key = f"run-{self._number}-{len(self.runs)}"
                result = client.run_start("flow.py", {}, cwd=at.project, project=at.project, key=key)
                self.runs.append(result.value)
                self.enough.wait(0.05)


@pytest.mark.timeout(120 + 20 * KILLS)
def test_hosts_killed_at_random_moments(tmp_path: Path) -> None:
    """Each acknowledged run completes by itself; one whose manual effect was cut short waits, and pays once."""
    moments = random.Random(7)
    with hosted(tmp_path, capacity=4) as at:
        (at.project / "flow.py").write_text(FLOW)
        askers = [Asker(at, number) for number in range(CLIENTS)]
        for each in askers:
            each.start()
        for _ in range(KILLS):
            askers[0].enough.wait(moments.uniform(0.2, 1.5))
            at.kill()
            at.start_again()
        for each in askers:
            each.enough.set()
            each.join(120)
            assert not each.is_alive()
            assert each.error is None, each.error
        runs = [run_id for each in askers for run_id in each.runs]
        assert len(runs) == len(set(runs))
        assert len(runs) > KILLS
        ends = Counter(end_of(at, run_id) for run_id in runs)
        # Two hosts in a row may die at the same progress of a run, and a manual effect may be cut short.
        assert set(ends) <= {"completed", "worker_no_progress", "effect_ambiguous"}, ends
        assert ends["completed"] >= len(runs) / 2, ends
        paid = Counter((at.project / "ledger").read_text().splitlines())
        assert all(paid[f"{run_id} pay"] <= 1 for run_id in runs)
    check_sound(at.home)


def end_of(at: Hosted, run_id: str) -> str:
    """How a run ended, or why it waits for somebody."""

    def rests(status: dict[str, Any]) -> bool:
        reason = (status["reason"] or {}).get("code")
        return status["finished_at"] is not None or reason in ("worker_no_progress", "effect_ambiguous")

    status = at.until(run_id, rests)
    return str(status["status"] if status["finished_at"] is not None else status["reason"]["code"])
