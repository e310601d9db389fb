"""S50, S51, S52: workers that vanish without a word, at every point of what they tell."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runwright import Context, Engine, JsonObject, Workflow
from runwright.engine.embedded.async_engine import AsyncEngine
from support.killable import Kill, Killable

#: What the first worker of `flow` tells: ready and the first start; the first end and the next start; and so on.
W1 = Kill(1, 1, 1)
BEFORE_READY = Kill(1, 1, 0)


def flow(calls: list[str]) -> Workflow[JsonObject]:
    """Two nodes that say when they are called."""
    workflow: Workflow[JsonObject] = Workflow("two")

    @workflow.compute
    def one(ctx: Context[JsonObject]) -> int:
        calls.append("one")
        return 1

    @workflow.compute
    def two(ctx: Context[JsonObject]) -> int:
        calls.append("two")
        return ctx.output(one) + 1

    workflow.entry(one)
    workflow.then(one, two)
    return workflow


async def standing(engine: AsyncEngine, run_id: str) -> dict[str, Any]:
    """How the run stands after it stopped, and 50 times a minute later; everything that shows it says the same."""
    await engine.wait(run_id, until="waiting")
    for _ in range(50):
        await asyncio.sleep(60)
    status = await engine.status(run_id)
    (listed,) = (await engine.query("queue", where=[f"run_id={run_id}"])).items
    (run,) = (await engine.query("runs", where=[f"run_id={run_id}"])).items
    workers = (await engine.query("workers")).items
    return {
        "status": status.status,
        "reason": None if status.reason is None else status.reason.code,
        "error": None if status.error is None else status.error.code,
        "listed": listed["reason"],
        "generation": run["launches"],
        "ends": [str(each["outcome"]) for each in sorted(workers, key=lambda each: str(each["worker"]))],
        "types": [each.type for each in await engine.events(run_id)],
    }


def test_s50_a_crash_after_progress_goes_on() -> None:
    """W2: a node is saved and the worker gone; the next generation begins behind it and never calls it again."""
    calls: list[str] = []
    staged = Killable(flow(calls), [Kill(1, 2, 2)], standing)
    came = staged.play()
    assert staged.killed == 1
    assert (came["status"], came["ends"]) == ("completed", ["crashed", "finished"])
    assert calls == ["one", "two"]
    assert came["types"].count("run.started") == 2
    assert came["types"].count("node.started") == 2


def test_s51_a_crash_without_progress_parks_once() -> None:
    """W1: ready, nothing saved: one launch, parked as `worker_no_progress`, and every screen says so."""
    calls: list[str] = []
    came = Killable(flow(calls), [W1], standing).play()
    assert (came["reason"], came["generation"], came["ends"]) == ("worker_no_progress", 1, ["crashed"])
    assert (came["status"], came["listed"]) == ("queued", "worker_no_progress")
    assert came["types"].count("run.parked") == 1
    assert "run.failed" not in came["types"]
    assert calls == []


def test_s51_a_worker_that_vanishes_before_ready_fails_its_launch() -> None:
    """Never started, and it vanished by itself: `activation_failed`, one launch; the input goes with it."""
    came = Killable(flow([]), [BEFORE_READY], standing).play()
    assert (came["status"], came["error"], came["ends"]) == ("failed", "activation_failed", ["crashed"])
    assert "run.input_erased" in came["types"]


def test_s51_a_started_run_whose_next_worker_never_gets_ready_parks() -> None:
    """The first worker saved something and vanished; the second vanished before it was ready."""
    came = Killable(flow([]), [Kill(1, 2, 2), Kill(2, 1, 0)], standing).play()
    assert (came["reason"], came["ends"]) == ("worker_no_progress", ["crashed", "crashed"])
    assert "run.failed" not in came["types"]


def test_s51_a_node_that_kills_its_worker_is_launched_twice() -> None:
    """Its start is saved, so there is one more try; then it parks, and one resume gives one more."""

    async def story(engine: AsyncEngine, run_id: str) -> Any:
        before = await standing(engine, run_id)
        await engine.resume(run_id)
        return before, await standing(engine, run_id)

    kills = [Kill(1, 2, 0), Kill(2, 2, 0), Kill(3, 2, 0)]
    parked, again = Killable(flow([]), kills, story).play()
    assert (parked["reason"], len(parked["ends"])) == ("worker_no_progress", 2)
    assert (again["reason"], len(again["ends"])) == ("worker_no_progress", 3)
    assert again["types"].count("node.started") == 1


@pytest.mark.parametrize("keep", [0, 1, 2, 3])
@pytest.mark.parametrize("message", [1, 2, 3])
def test_s50_wherever_it_dies_nothing_is_lost_or_repeated(message: int, keep: int) -> None:
    """Every point of every message: what was saved is never done again, and no run is left as it was."""
    calls: list[str] = []
    staged = Killable(flow(calls), [Kill(1, message, keep)], standing)
    came = staged.play()
    assert staged.killed == 1
    assert (came["status"] in ("completed", "failed")) or came["reason"] == "worker_no_progress"
    assert calls.count("one") <= 2
    assert came["types"].count("run.completed") <= 1
    saved = ("node.finished" in came["types"]) and came["status"] == "completed"
    assert not saved or came["types"].count("node.finished") == 2


def test_s52_a_failure_at_load_is_an_outcome(tmp_path: Path) -> None:
    """The code is not what the run was started with: failed with phase and text where it never started, and no more."""
    with Engine.open(tmp_path / "home") as engine:
        run_id = engine.start(flow([]), {}, drive=False)
    changed = flow_of_one()
    with Engine.open(tmp_path / "home", workflows=[changed]) as engine:
        outcome = engine.wait(run_id, until="waiting")
        assert (outcome.status, outcome.error and outcome.error.code) == ("failed", "source_changed")
        assert len(engine.events(run_id, types=["run.failed"])) == 1
        (exited,) = engine.query("workers").items
        assert (exited["outcome"], exited["phase"]) == ("failed", "load")
    with Engine.open(tmp_path / "home", workflows=[changed]) as engine:
        assert len(engine.query("workers").items) == 1
        assert engine.status(run_id).ended


def flow_of_one() -> Workflow[JsonObject]:
    """Another workflow of the same name."""
    workflow: Workflow[JsonObject] = Workflow("two")

    @workflow.compute
    def other(ctx: Context[JsonObject]) -> int:
        return 1

    workflow.entry(other)
    return workflow
