"""One child process: started whole or not at all, and ended whole wherever it is cancelled."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from runwright.engine.execution.calling import OutOfTime
from runwright.engine.execution.child import run_child

TREE = ["/bin/sh", "-c", "sleep 300 & sleep 300"]


def living(folder: Path) -> list[int]:
    """Processes that work in a folder and still run."""
    found: list[int] = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                if (process / "cwd").readlink() == folder:
                    found.append(int(process.name))
            except OSError:
                continue
    return found


@pytest.mark.parametrize("turns", range(8))
async def test_cancelled_at_any_turn_of_the_loop(tmp_path: Path, turns: int) -> None:
    """Before, while and after it starts: nothing is left, and the cancelled call ends."""
    task = asyncio.ensure_future(run_child(TREE, cwd=tmp_path, stdin=b"x"))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 20)
    assert living(tmp_path) == []


async def test_cancelled_when_it_cannot_be_started(tmp_path: Path) -> None:
    """A program that is not there ends as cancelled, too."""
    task = asyncio.ensure_future(run_child(["/no/such/program"], cwd=tmp_path))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises((asyncio.CancelledError, FileNotFoundError)):
        await asyncio.wait_for(task, 20)


async def test_a_process_that_left_the_group_holds_nobody_up(tmp_path: Path) -> None:
    """It keeps the pipes open; the call lets go of them after a moment."""
    started = time.monotonic()
    end = await run_child(["/bin/sh", "-c", "setsid sleep 5 & echo done"], cwd=tmp_path)
    assert (end.exit_code, end.stdout) == (0, b"done\n")
    assert time.monotonic() - started < 4.9


async def test_stderr_is_told_line_by_line(tmp_path: Path) -> None:
    """The last line without its end included."""
    told: list[str] = []
    script = "printf 'a\\nb\\nc' >&2; exit 3"
    end = await run_child(["/bin/sh", "-c", script], cwd=tmp_path, on_stderr=told.append)
    assert ("\n".join(told).split("\n"), end.exit_code, end.stderr) == (["a", "b", "c"], 3, b"a\nb\nc")


async def test_no_time_starts_nothing(tmp_path: Path) -> None:
    """A limit that has passed is no start."""
    with pytest.raises(OutOfTime):
        await run_child(["/bin/sh", "-c", "touch started"], cwd=tmp_path, limit=0)
    assert not (tmp_path / "started").exists()
