"""Coroutines that hold their worker's loop where no node's deadline stands: the run is given up with its lease."""

from pathlib import Path

import pytest

from support.hosts import hosted, left_of, wait

STUCK = '''
"""Coroutines that never let go, asked for what comes before a node."""
from runwright import Context, JsonObject, Workflow
from runwright.engine.execution import calling, executor, following

# What a small function may take, and one that is cancelled: more than a test has.
executor.ASIDE_LIMIT = following.ASIDE_LIMIT = calling.GRACE = 0.1

inner = Workflow("inner")
mounts = Workflow("mounts")
limits = Workflow("limits")


async def never(ctx: Context[JsonObject]) -> float:
    with open(ctx.cwd / "asked", "a") as ledger:
        ledger.write(".")
    while True:
        pass


@inner.compute
def leaf(ctx: Context[JsonObject]) -> int:
    return 1


@mounts.compute
def one(ctx: Context[JsonObject]) -> int:
    return 1


@limits.compute
def first(ctx: Context[JsonObject]) -> int:
    return 1


@limits.compute(timeout=never)
def second(ctx: Context[JsonObject]) -> int:
    return 1


inner.entry(leaf)
inner.exit("done", leaf)
mount = mounts.include("mount", inner, input=never)
mounts.entry(one)
mounts.then(one, mount)
limits.entry(first)
limits.then(first, second)
'''


@pytest.mark.parametrize("which", ["mounts", "limits"])
def test_a_coroutine_that_never_lets_go_before_a_node_parks_its_run(tmp_path: Path, which: str) -> None:
    """Nothing on the held loop can end it, and a thread that still renewed would keep it for ever."""
    with hosted(tmp_path, lease=1.0) as at:
        (at.project / "stuck.py").write_text(STUCK)
        asked = at.project / "asked"
        run_id = at.start(f"stuck.py:{which}")
        status = at.parked(run_id, "worker_no_progress")
        assert asked.read_text() == ".."
        assert "not heard of for as long as its lease lasts" in status["reason"]["detail"]
        assert at.workers() == ["timed_out", "timed_out"]
        at.client.run_resume(run_id)
        wait(lambda: asked.read_text() == "...")
        at.client.run_cancel(run_id)
        assert at.status(run_id)["status"] == "cancelled"
        wait(lambda: left_of(at.project) == [])
