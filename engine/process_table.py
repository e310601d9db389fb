"""The processes of this machine as they stand right now: who they are, whose session they are in, what marks them."""

import os
import signal
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen


@frozen
class Process:
    """One process.

    Attributes:
        pid: Its number.
        start: When it started, in the unit of `ProcessIdentity`.
        session: The process session that it is in.
        ended: Whether it has ended, and only nobody has fetched its end yet.
        parent: The process that it belongs to now.
        group: The process group that it is in.
    """

    pid: int
    start: int
    session: int
    ended: bool
    parent: int = 0
    group: int = 0


def look(pid: int) -> Process | None:
    """The process of that number; ``None`` where there is none."""
    if sys.platform == "linux":
        try:
            text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return None
        # Behind the name, which may hold anything: state, parent, group, session, …, and the start time as the 22nd.
        fields = text.rpartition(")")[2].split()
        return Process(pid, int(fields[19]), int(fields[3]), fields[0] in "ZX", int(fields[1]), int(fields[2]))
    import psutil  # type: ignore[import-untyped, unused-ignore]  # no types; only where /proc does not tell

    try:
        found = psutil.Process(pid)
        ended = found.status() == psutil.STATUS_ZOMBIE
        session, group = (0, 0) if ended else (os.getsid(pid), os.getpgid(pid))
        return Process(pid, int(found.create_time() * 100), session, ended, found.ppid(), group)
    except (psutil.Error, ProcessLookupError):
        return None


def every() -> Iterator[Process]:
    """All processes that can be seen."""
    for pid in _numbers():
        found = look(pid)
        if found is not None:
            yield found


def children() -> list[int]:
    """The numbers of this process's own children, ended ones that were not fetched yet included.

    For a process of one thread: it alone fetches their ends, so that none is missed while the list is read.
    """
    own = os.getpid()
    try:
        return [int(each) for each in Path(f"/proc/{own}/task/{own}/children").read_text().split()]
    except FileNotFoundError:  # the system does not list them
        return [each.pid for each in every() if each.parent == own]


def below(roots: Collection[int], table: Collection[Process]) -> Iterator[Process]:
    """Every process of a table that descends from one of these, as far as parents still tell."""
    children: dict[int, list[Process]] = {}
    for each in table:
        children.setdefault(each.parent, []).append(each)
    waiting = list(roots)
    while waiting:
        found = children.pop(waiting.pop(), [])
        yield from found
        waiting.extend(each.pid for each in found)


def environment(pid: int) -> dict[str, str]:
    """What a process was started with; empty where it ended or is not ours to read."""
    if sys.platform == "linux":
        try:
            raw = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return {}
        pairs = (each.partition(b"=") for each in raw.split(b"\0"))
        return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    import psutil

    try:
        return dict(psutil.Process(pid).environ())
    except psutil.Error:
        return {}


def send(process: Process, number: signal.Signals) -> None:
    """Signal exactly this process: one that took its number meanwhile hears nothing."""
    try:
        if sys.platform == "linux":
            _send_to(process, number)
        else:
            os.kill(process.pid, number)
    except ProcessLookupError:
        return  # it ended by itself, which is what was wanted
    except PermissionError:
        return  # it became somebody else's; whoever waits for its end names it


def kill_group(group: int) -> None:
    """Kill everything in a process group at once, what is just being forked included: nobody can be too quick for it.

    The group has to be known for one of somebody's own, and not to be the caller's.
    """
    if group > 1 and group != os.getpgrp():
        with suppress(ProcessLookupError, PermissionError):  # it is empty, or holds what became somebody else's
            os.killpg(group, signal.SIGKILL)


def _send_to(process: Process, number: signal.Signals) -> None:
    descriptor = os.pidfd_open(process.pid)
    try:
        found = look(process.pid)
        if found is not None and found.start == process.start:
            signal.pidfd_send_signal(descriptor, number)
    finally:
        os.close(descriptor)


def _numbers() -> list[int]:
    if sys.platform == "linux":
        return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
    import psutil

    return list(psutil.pids())
