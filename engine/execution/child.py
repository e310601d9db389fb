"""One child process in a process session of its own: fed, read, bounded, and ended whole."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from attrs import frozen

from runwright.engine.execution.calling import OutOfTime
from runwright.engine.execution.watched import Watched
from runwright.engine.tasks import own_task

#: How long a process group may take to end itself before it is killed.
TERM_GRACE = 2.0
#: How long what is left of a child's pipes may stay open after it ended.
PIPE_GRACE = 2.0
_FIRST_POLL = 0.002
_LONGEST_POLL = 0.05
_CHUNK_LINE = 64 * 1024

#: Whether each program gets a process session of its own.
_apart = True


def stay_in_session() -> None:
    """Keep what this process starts in its own process session, in groups of its own; the session is ended whole."""
    global _apart
    _apart = False


class Gate(Protocol):
    """Whoever has to know of a process before that is given anything to do."""

    async def opened(self, pid: int) -> None:
        """A process was started, and waits for its input."""
        ...

    async def closed(self, pid: int) -> None:
        """The process and everything in its group is gone."""
        ...


@frozen(kw_only=True)
class ChildEnd:
    """How a child process ended.

    Attributes:
        exit_code: Its exit code; negative: the number of the signal that killed it.
        stdout: What it printed, up to the limit.
        stderr: The same for its errors.
        stdout_cut: Whether there was more of stdout.
        stderr_cut: Whether there was more of stderr.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    stdout_cut: bool
    stderr_cut: bool


async def run_child(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    stdout: IO[bytes] | None = None,
    max_output: int = 1_000_000,
    limit: float | None = None,
    on_stderr: Callable[[str], None] | None = None,
    gate: Gate | None = None,
) -> ChildEnd:
    """Run a program without a shell and answer how it ended, once its whole process group is gone.

    Args:
        argv: The program and its arguments.
        cwd: Where it runs.
        env: Its whole environment; ``None`` for this process's own.
        stdin: What it reads; ``None`` for nothing.
        stdout: A file that takes its stdout; ``None`` to keep it, up to the limit.
        max_output: The bytes of each stream that are kept.
        limit: Seconds it may take, its start included.
        on_stderr: Is told the lines of stderr as they come, some at a time.
        gate: Is told of the process before its stdin is written, and after its end.

    Raises:
        OutOfTime: It took longer, whenever the loop learnt of its end; its group was ended before this is raised.
        OSError: It could not be started.
    """
    if limit is not None and limit <= 0:
        raise OutOfTime
    loop = asyncio.get_running_loop()
    ends = None if limit is None else loop.time() + limit
    transport, child = await _started(
        loop.subprocess_exec(
            lambda: _Child(max_output, on_stderr),
            *argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            start_new_session=_apart,
            process_group=None if _apart else 0,
        )
    )
    try:
        if gate is not None:
            await gate.opened(transport.get_pid())
        _feed(transport, stdin)
        in_time = await _in_time(transport.get_pid(), child, ends)
        if in_time:
            await asyncio.wait({child.drained}, timeout=PIPE_GRACE)
    finally:
        await _end(transport, child)
        if gate is not None:
            await gate.closed(transport.get_pid())
    if not in_time:
        raise OutOfTime
    code = transport.get_returncode()
    assert code is not None
    return child.end(code)


async def _in_time(pid: int, child: "_Child", ends: float | None) -> bool:
    """Wait for the end of a child, but not beyond a time of the loop's; whether it ended by then."""
    if ends is not None:
        watched = Watched(pid, child.exited)
        await asyncio.wait({watched.told}, timeout=max(0, ends - asyncio.get_running_loop().time()))
        if not watched.ended_by(ends):
            return False
    await asyncio.wait({child.exited})
    return True


async def end_group(group: int) -> None:
    """End every process of a group: SIGTERM, two seconds, SIGKILL; returns when it is empty."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not _signal(group, number):
            return
        until, pause = time.monotonic() + TERM_GRACE, _FIRST_POLL
        while time.monotonic() < until:
            await asyncio.sleep(pause)
            if not _lives(group):
                return
            pause = min(2 * pause, _LONGEST_POLL)


class _Child(asyncio.SubprocessProtocol):
    """Collects what a child says; everything beyond the limit is read and dropped."""

    def __init__(self, max_output: int, on_stderr: Callable[[str], None] | None) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.drained: asyncio.Future[None] = loop.create_future()
        self._max = max_output
        self._kept = {1: bytearray(), 2: bytearray()}
        self._cut = {1: False, 2: False}
        self._on_stderr = on_stderr
        self._line = b""

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        kept = self._kept[fd]
        room = self._max - len(kept)
        kept += data[:room]
        self._cut[fd] = self._cut[fd] or len(data) > room
        if fd == 2 and self._on_stderr is not None:
            whole, newline, self._line = (self._line + data).rpartition(b"\n")
            if newline:
                self._on_stderr(whole.decode("utf-8", "replace"))
            if len(self._line) > _CHUNK_LINE:
                self._tell_rest()

    def process_exited(self) -> None:
        _settle(self.exited)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (the protocol's signature)
        self._tell_rest()
        _settle(self.drained)

    def end(self, exit_code: int) -> ChildEnd:
        return ChildEnd(
            exit_code=exit_code,
            stdout=bytes(self._kept[1]),
            stderr=bytes(self._kept[2]),
            stdout_cut=self._cut[1],
            stderr_cut=self._cut[2],
        )

    def _tell_rest(self) -> None:
        if self._line and self._on_stderr is not None:
            self._on_stderr(self._line.decode("utf-8", "replace"))
        self._line = b""


def _feed(transport: asyncio.SubprocessTransport, stdin: bytes | None) -> None:
    pipe = transport.get_pipe_transport(0)
    if stdin is None or pipe is None:
        return
    assert isinstance(pipe, asyncio.WriteTransport)
    pipe.write(stdin)  # one that is not read to its end is no mistake: the transport drops the rest
    pipe.close()


async def _started(
    start: Coroutine[Any, Any, tuple[asyncio.SubprocessTransport, _Child]],
) -> tuple[asyncio.SubprocessTransport, _Child]:
    """Start whole or not at all: cancelled half-way, the loop would forget the child's group and wait for ever."""
    task = own_task(start)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if task.exception() is None:
            await _end(*task.result())
        raise


async def _end(transport: asyncio.SubprocessTransport, child: _Child) -> None:
    """End the group whatever happens, then let go of the pipes, which one that left the group may still hold."""
    group = transport.get_pid()
    try:
        await end_group(group)
        await asyncio.wait({child.exited}, timeout=TERM_GRACE)
    except asyncio.CancelledError:  # cancelled a second time: no patience is left
        _signal(group, signal.SIGKILL)
        raise
    finally:
        transport.close()
    await asyncio.wait({child.drained}, timeout=PIPE_GRACE)


def _signal(group: int, number: int) -> bool:
    """Signal a group; whether there was anybody to hear it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # macOS says so of a group that holds only zombies.
        return number != 0
    return True


def _lives(group: int) -> bool:
    """Whether a process of the group still runs: one that ended and that nobody reaps does not."""
    if not _signal(group, 0):
        return False
    if sys.platform != "linux":
        return True
    return any(_runs_in(folder, group) for folder in Path("/proc").iterdir() if folder.name.isdigit())


def _runs_in(folder: Path, group: int) -> bool:
    try:
        # After the name, which may hold anything: state, parent, group.
        state, _, of = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
    except (OSError, ValueError):
        return False  # it is gone
    return int(of) == group and state not in "ZX"


def _settle(future: "asyncio.Future[None]") -> None:
    with contextlib.suppress(asyncio.InvalidStateError):
        future.set_result(None)
