"""One child process: started whole or not at all, and ended whole wherever it is cancelled."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
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


class HeldUp:
    """A gate that holds the loop up as soon as it waits for the process, over the process's end and over its limit.

    Args:
        ends: What makes the process end.
        when: When the limit passes: while it starts, or before or after it ends.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, ends: Callable[[], object], when: str) -> None:
        self._ends, self._when = ends, when
        self._ahead = 0.0
        self._loop = asyncio.get_running_loop()
        monkeypatch.setattr(self._loop, "time", lambda: time.monotonic() + self._ahead)

    async def opened(self, pid: int) -> None:
        """The process waits for its input."""
        if self._when == "starting":
            self._ends()
            self._pass_time()
            return
        self._loop.call_later(0, self._hold, pid)

    async def closed(self, pid: int) -> None:
        """Nothing of it is left."""

    def _hold(self, pid: int) -> None:
        if self._when == "before":
            self._pass_time()
        self._ends()
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        for each in threading.enumerate():
            if each.name == f"watches {pid}":
                each.join(30)
        self._pass_time()

    def _pass_time(self) -> None:
        self._ahead += 10_000


@pytest.mark.parametrize("when", ["starting", "before", "after"])
async def test_a_loop_that_was_held_up_judges_by_when_the_process_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """What ended within its limit counts although the loop hears of it after that, and what ended later does not."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    gate = HeldUp(monkeypatch, ends=lambda: fifo.write_text("go"), when=when)
    running = run_child(["/bin/sh", "-c", f"cat {fifo}"], cwd=tmp_path, limit=5_000, gate=gate)
    if when == "after":
        assert (await running).stdout == b"go"
    else:
        with pytest.raises(OutOfTime):
            await running


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
