"""Figures of the engine in process: steps, launches, bytes, growth."""

import asyncio
import statistics
import time
from pathlib import Path

from benchmarks.workloads import drive, finished_runs, steps
from runwright import AsyncEngine, JsonObject, Workflow

RUNS, STEPS = 200, 10
LONG = 100
STARTS = 300
HISTORY = 2_000


def _seconds(home: Path, workflow: Workflow[JsonObject], runs: int) -> float:
    async def measure() -> float:
        async with AsyncEngine.open(home) as engine:
            started = time.perf_counter()
            await drive(engine, workflow, runs)
            return time.perf_counter() - started

    return asyncio.run(measure())


def one_long_run(folder: Path) -> float:
    """Steps a second of one run of a hundred steps."""
    return LONG / _seconds(folder / "state", steps(LONG), 1)


def many_runs(folder: Path) -> float:
    """Steps a second of two hundred runs of ten steps at once."""
    return RUNS * STEPS / _seconds(folder / "state", steps(STEPS), RUNS)


def growth(folder: Path) -> float:
    """The speed of many runs with two thousand finished ones in the store, as a share of that in an empty one."""
    empty = _seconds(folder / "empty", steps(STEPS), RUNS)
    finished_runs(folder / "full", HISTORY)
    return empty / _seconds(folder / "full", steps(STEPS), RUNS)


def bytes_per_step(folder: Path) -> float:
    """What a step of a run of ten adds to the store, launch and end included."""
    home = folder / "state"
    finished_runs(home, 1)
    before = (home / "log.sqlite").stat().st_size
    finished_runs(home, RUNS)
    return ((home / "log.sqlite").stat().st_size - before) / (RUNS * STEPS)


def _start_times(folder: Path) -> list[float]:
    async def measure() -> list[float]:
        times: list[float] = []
        workflow = steps(1)
        async with AsyncEngine.open(folder / "state") as engine:
            for _ in range(STARTS):
                started = time.perf_counter()
                run_id = await engine.start(workflow, {})
                times.append(time.perf_counter() - started)
                await engine.wait(run_id)
        return times

    return asyncio.run(measure())


def start_p50(folder: Path) -> float:
    """Seconds until a start is acknowledged, the median."""
    return statistics.median(_start_times(folder))


def start_p99(folder: Path) -> float:
    """Seconds until a start is acknowledged, the slowest of a hundred."""
    return statistics.quantiles(_start_times(folder), n=100)[98]
