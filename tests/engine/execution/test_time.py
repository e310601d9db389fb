"""Time: limits, deadlines over crashes, cancellation and functions that cannot be stopped."""

import asyncio
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from runwright import Absent, Command, Context, JsonObject, Observation, Present, Workflow
from runwright.engine.commands.worker import FailRun, SettleEffect, StartNode
from runwright.engine.execution import walk
from runwright.engine.execution.calling import outlived, returned
from support.computing import computing
from support.running import carry, port_for, run, run_until_crash
from support.scripted_port import Crash, ScriptedPort


def test_a_sync_function_that_outlives_its_limit(tmp_path: Path) -> None:
    """The attempt ends at its limit, and the run goes on only when the function has returned."""
    workflow = Workflow("outlives")
    release = threading.Event()
    order: list[str] = []

    @workflow.compute(timeout=0.1)
    def stuck(ctx: Context[JsonObject]) -> int:
        release.wait(20)
        order.append("returned")
        return 1

    @workflow.compute
    def after(ctx: Context[JsonObject]) -> int:
        order.append("after")
        return 2

    workflow.entry(stuck)
    workflow.catch(stuck, after)
    port = port_for(workflow, tmp_path)

    def ended(transitions: Any) -> None:
        if port.finished() == [("stuck", 1, 1, "timed_out")] and not release.is_set():
            order.append("timed out")
            threading.Timer(0.05, release.set).start()

    port.crash_after = ended
    assert run(port) == "finished"
    assert order == ["timed out", "returned", "after"]
    assert not outlived("run")


@pytest.mark.parametrize(
    ("how", "end", "outcome"),
    [
        ({"recovery": "manual"}, "parked", []),
        ({"recovery": "idempotent"}, "finished", [("send", 1, 1, "timed_out")]),
        (
            {"request": lambda ctx: 5, "observe": lambda ctx, request: Present(2)},
            "finished",
            [("send", 1, 1, "completed")],
        ),
    ],
    ids=["manual", "idempotent", "observed"],
)
def test_a_late_result_is_judged_by_the_contract(tmp_path: Path, how: Any, end: str, outcome: list[object]) -> None:
    """A coroutine that holds up the loop past its deadline has run out of time, whatever it returns."""
    workflow = Workflow("late")

    @workflow.action(timeout=0.05, **how)  # type: ignore[untyped-decorator]  # three forms of it at once
    async def send(ctx: Context[JsonObject], *request: object) -> int:
        time.sleep(0.1)
        return 1

    workflow.entry(send)
    port = port_for(workflow, tmp_path)
    assert run(port) == end
    assert port.finished() == outcome


def test_an_async_function_is_cancelled_at_its_limit(tmp_path: Path) -> None:
    """A coroutine ends where it waits."""
    workflow = Workflow("cancelled")
    ended: list[str] = []

    @workflow.compute(timeout=0.05)
    async def work(ctx: Context[JsonObject]) -> int:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("cleaned up")
        return 1

    workflow.entry(work)
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert (port.ended.outcome, port.ended.code, ended) == ("timed_out", "node_timed_out", ["cleaned up"])


def test_a_timeout_is_a_function_of_the_context(tmp_path: Path) -> None:
    """It is worked out before the attempt starts, and the deadline stands in its start."""
    port = port_for(computing(lambda ctx: str(ctx.deadline), timeout=lambda ctx: ctx.input["limit"]), tmp_path)
    run(port, {"limit": 7})
    [start] = port.all(StartNode)
    assert isinstance(start, StartNode)
    assert start.deadline is not None
    assert 6 < (start.deadline - port.now()) / 1e6 <= 7
    assert port.output("work") != "None"


@pytest.mark.parametrize("limit", ["soon", -1, True], ids=str)
def test_a_timeout_that_is_none_fails_the_node(tmp_path: Path, limit: Any) -> None:
    """What the function returns is checked like a declared limit."""
    port = port_for(computing(lambda ctx: 1, timeout=lambda ctx: limit), tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert "a time is" in str(port.ended.error)


def test_a_manual_effect_out_of_time_is_ambiguous(tmp_path: Path) -> None:
    """Ambiguity wins over the limit: the attempt stays open and the run parks."""
    workflow = Workflow("slow")

    @workflow.action(timeout=0.05)
    async def act(ctx: Context[JsonObject]) -> int:
        await asyncio.sleep(30)
        return 1

    workflow.entry(act)
    port = port_for(workflow, tmp_path)
    assert run(port) == "parked"
    [settled] = port.all(SettleEffect)
    assert isinstance(settled, SettleEffect)
    assert (settled.outcome, settled.cause) == ("ambiguous", "timed_out")


def test_an_observed_function_is_looked_at_after_it_returned(tmp_path: Path) -> None:
    """An end is observed, not guessed: the look waits for the function that could not be stopped."""
    workflow = Workflow("late")
    order: list[str] = []

    def look(ctx: Context[JsonObject], request: None) -> Observation[int]:
        order.append("looked")
        return Present(5)

    @workflow.action(request=lambda ctx: None, observe=look, timeout=0.05)
    def act(ctx: Context[JsonObject], request: None) -> int:
        time.sleep(0.3)
        order.append("returned")
        return 1

    workflow.entry(act)
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert (order, port.output("act")) == (["returned", "looked"], 5)


def crash_at_start_of_work(port: ScriptedPort) -> None:
    """Let the worker vanish right after the first start is committed."""

    def after(transitions: Any) -> None:
        if any(isinstance(each, StartNode) for each in transitions):
            raise Crash

    port.crash_after = after


def test_a_crash_keeps_attempt_and_deadline(tmp_path: Path) -> None:
    """The next worker goes on in the same attempt; no second start is written."""
    seen: list[tuple[int, datetime | None]] = []
    port = port_for(computing(lambda ctx: seen.append((ctx.attempt, ctx.deadline)), timeout=60), tmp_path)
    crash_at_start_of_work(port)
    assert run_until_crash(port) is None
    deadline = port.nodes["work"].deadline
    port.crash_after = lambda _: None
    assert run(port) == "finished"
    assert len(port.all(StartNode)) == 1
    assert deadline is not None
    assert [(attempt, at and round(at.timestamp(), 3)) for attempt, at in seen] == [(1, round(deadline / 1e6, 3))]


@pytest.mark.parametrize("how", [{}, {"recovery": "idempotent"}], ids=["compute", "idempotent"])
def test_the_time_of_a_crash_counts(tmp_path: Path, how: dict[str, Any]) -> None:
    """Past its deadline, an attempt that is taken up calls nothing and has timed out."""
    calls: list[int] = []
    workflow = Workflow("down")
    decorate = workflow.action(timeout=60, **how) if how else workflow.compute(timeout=60)

    def work(ctx: Context[JsonObject]) -> Any:
        calls.append(1)

    workflow.entry(decorate(work))
    port = port_for(workflow, tmp_path)
    crash_at_start_of_work(port)
    assert run_until_crash(port) is None
    port.crash_after = lambda _: None
    port.shift = 61_000_000
    assert run(port) == "finished"
    assert (port.finished(), calls) == ([("work", 1, 1, "timed_out")], [])


def test_an_observed_effect_past_its_deadline_is_looked_at(tmp_path: Path) -> None:
    """What happened before the crash is not forgotten for the time that passed."""
    workflow = Workflow("down")

    def look(ctx: Context[JsonObject], request: None) -> Observation[int]:
        return Present(5) if ctx.input["there"] else Absent()

    @workflow.action(request=lambda ctx: None, observe=look, timeout=60)
    def act(ctx: Context[JsonObject], request: None) -> int:
        raise AssertionError

    workflow.entry(act)
    for there, outcome in ((True, "completed"), (False, "timed_out")):
        port = port_for(workflow, tmp_path)
        crash_at_start_of_work(port)
        assert run_until_crash(port, {"there": there}) is None
        port.crash_after = lambda _: None
        port.shift = 61_000_000
        assert run(port, {"there": there}) == "finished"
        assert port.finished() == [("act", 1, 1, outcome)]


async def test_a_cancelled_execution_ends_its_processes_and_writes_nothing(tmp_path: Path) -> None:
    """The driver cancels the task; the process group is gone when it has ended."""
    workflow = Workflow("cancelled")

    @workflow.shell
    def command(ctx: Context[JsonObject]) -> Command:
        return Command.sh("echo $$ > pid; (sleep 1; touch late) & sleep 300")

    workflow.entry(command)
    port = port_for(workflow, tmp_path)
    task = asyncio.ensure_future(carry(port))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        await asyncio.sleep(0.005)
    written = len(port.lists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(port.lists) == written
    assert not (Path("/proc") / (tmp_path / "pid").read_text().strip()).exists()


async def test_a_run_waits_for_the_function_of_an_earlier_execution(tmp_path: Path) -> None:
    """After a manual effect out of time, the same run does not go on here until its function has returned."""
    workflow = Workflow("stuck")
    release = threading.Event()

    @workflow.action(timeout=0.05)
    def act(ctx: Context[JsonObject]) -> int:
        release.wait(20)
        return 1

    workflow.entry(act)
    port = port_for(workflow, tmp_path)
    assert await carry(port) == "parked"
    assert outlived("run")
    again = asyncio.ensure_future(carry(port))
    await asyncio.sleep(0.05)
    assert not again.done()
    release.set()
    await returned("run")
    assert await again == "parked"


def test_what_is_settled_does_not_wait_for_the_next_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of one effect is committed before the slow request of the next is worked out."""
    monkeypatch.setattr(walk, "PATIENCE", 0.005)
    workflow = Workflow("slow-request")
    saved = threading.Event()

    def slow(ctx: Context[JsonObject]) -> bool:
        saved.wait(20)
        return port.effects["first", 1].state == "applied"

    @workflow.action
    def first(ctx: Context[JsonObject]) -> int:
        return 1

    @workflow.action(request=slow)
    def second(ctx: Context[JsonObject], asked: bool) -> bool:
        return asked

    workflow.entry(first)
    workflow.then(first, second)
    port = port_for(workflow, tmp_path)
    port.crash_after = lambda _: saved.set() if port.all(SettleEffect) else None
    assert run(port) == "finished"
    assert port.output("second") is True
