"""Figures of a host with its workers: from a start to the first node, and steps with a process for each run."""

import os
import signal
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from runwright.engine.client import Client
from runwright.engine.client.connect import find_host

STARTS = 40
RUNS, STEPS = 40, 10

_FLOW = textwrap.dedent(
    """
    import itertools
    from runwright import Workflow

    bench = Workflow("bench")
    nodes = [bench.compute(name=f"step_{{each}}")(lambda ctx: ctx.steps_left) for each in range({steps})]
    bench.entry(nodes[0])
    for before, after in itertools.pairwise(nodes):
        bench.then(before, after)
    """
)


@contextmanager
def _host(home: Path, capacity: int) -> Iterator[Client]:
    """A host of its own, in a process of its own, ended with the measurement."""
    command = [sys.executable, "-m", "runwright.cli.main", "host", "run", "--home", str(home), "-q"]
    process = subprocess.Popen([*command, "--capacity", str(capacity)], env=dict(os.environ))
    try:
        give_up = time.monotonic() + 60
        while not home.exists() or find_host(home) is None:
            if time.monotonic() > give_up:
                raise TimeoutError("no host serves after a minute")
            time.sleep(0.01)
        with Client.connect(home, client="benchmarks") as client:
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _flow(folder: Path, steps: int) -> str:
    flow = folder / "flow.py"
    flow.write_text(_FLOW.format(steps=steps))
    return str(flow)


def start_to_first_node(folder: Path) -> float:
    """Seconds from asking for a start until its first node runs in a worker, the median."""
    flow = _flow(folder, 1)
    times: list[float] = []
    with _host(folder / "state", 4) as client:
        for _ in range(STARTS):
            asked = datetime.now(UTC)
            run_id = client.run_start(flow, {}, cwd=folder).value
            with client.events_subscribe(run_id) as events:
                for event in events:
                    if event["type"] == "node.started":
                        times.append((datetime.fromisoformat(event["at"]) - asked).total_seconds())
                    if event["type"] == "run.completed":
                        break
    return statistics.median(times)


def _steps_a_second(folder: Path, capacity: int) -> float:
    flow = _flow(folder, STEPS)
    with _host(folder / "state", capacity) as client:
        started = time.perf_counter()
        open_runs = {client.run_start(flow, {}, cwd=folder).value for _ in range(RUNS)}
        with client.events_subscribe(types=["run.completed"]) as events:
            for event in events:
                open_runs.discard(event["stream"].partition("/")[2])
                if not open_runs:
                    break
        return RUNS * STEPS / (time.perf_counter() - started)


def steps_with_two(folder: Path) -> float:
    """Steps a second with two workers at once."""
    return _steps_a_second(folder, 2)


def steps_with_four(folder: Path) -> float:
    """Steps a second with four workers at once."""
    return _steps_a_second(folder, 4)
