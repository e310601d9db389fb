"""C10: work that takes longer than a lease keeps its claim, because the lease is renewed from outside the work."""

import time
from pathlib import Path

import pytest

from runwright import CallableAgent, Context, Engine, JsonObject, Workflow
from runwright.engine.embedded.renewal import LeaseRenewal
from runwright.engine.transitions.leases import Leases
from support.sound import check_sound

#: Seconds of a lease here, and of the work.
LEASE, WORK = 0.6, 1.0


def test_c10_a_long_step_runs_once_in_one_generation(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C10: a sleeping action, a loop that keeps the processor and a slow agent: one attempt each, one generation."""
    assert Leases.__init__.__kwdefaults__ is not None
    assert LeaseRenewal.__init__.__kwdefaults__ is not None
    monkeypatch.setitem(Leases.__init__.__kwdefaults__, "seconds", LEASE)
    monkeypatch.setitem(LeaseRenewal.__init__.__kwdefaults__, "every", LEASE / 10)
    calls: list[str] = []
    sleeping: Workflow[JsonObject] = Workflow("sleeping")
    busy: Workflow[JsonObject] = Workflow("busy")
    asking: Workflow[JsonObject] = Workflow("asking")

    @sleeping.action
    def rest(ctx: Context[JsonObject]) -> int:
        calls.append("rest")
        time.sleep(WORK)
        return 1

    @busy.compute
    def turn(ctx: Context[JsonObject]) -> int:
        calls.append("turn")
        until, number = time.monotonic() + WORK, 0
        while time.monotonic() < until:
            number += 1
        return 1

    @asking.agent(returns=int)
    def ask(ctx: Context[JsonObject]) -> str:
        return "how many?"

    def answer(request: object) -> int:
        calls.append("ask")
        time.sleep(WORK)
        return 1

    for workflow, entry in ((sleeping, rest), (busy, turn), (asking, ask)):
        workflow.entry(entry)
    with Engine.open(home, agents={"default": CallableAgent(answer)}, capacity=3) as engine:
        run_ids = [engine.start(workflow, {}) for workflow in (sleeping, busy, asking)]
        assert [engine.wait(run_id).output for run_id in run_ids] == [1, 1, 1]
        assert sorted(calls) == ["ask", "rest", "turn"]
        assert [row["generation"] for row in engine.query("queue").items] == [1, 1, 1]
        assert [row["attempt"] for row in engine.query("visits").items] == [1, 1, 1]
    check_sound(home)
