"""A process's exact identity, and whether the process that an identity names still lives."""

import os
import sys
from pathlib import Path

from runwright.eventstore.events.event import ProcessIdentity


def own_identity() -> ProcessIdentity:
    """Name this process so exactly that a reused process ID is never taken for it."""
    pid = os.getpid()
    start = _start_ticks(pid)
    # A process can always read its own start time; 0 stands for a system that does not tell it.
    return ProcessIdentity(boot=_boot(), namespace=_namespace(), pid=pid, start=start or 0)


def identify(pid: int) -> ProcessIdentity | None:
    """Name a process of this machine exactly; ``None`` where it has ended."""
    start = _start_ticks(pid)
    return None if start is None else ProcessIdentity(boot=_boot(), namespace=_namespace(), pid=pid, start=start)


def is_alive(process: ProcessIdentity) -> bool | None:
    """Whether the process lives; ``None`` where its pid namespace is not ours and nobody can tell."""
    if process.boot != _boot():
        return False
    if process.namespace != _namespace():
        return None
    return _start_ticks(process.pid) == process.start


def _boot() -> str:
    if sys.platform == "linux":
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    import psutil  # type: ignore[import-untyped, unused-ignore]  # only where /proc does not tell; no types

    return str(int(psutil.boot_time()))


def _namespace() -> str:
    if sys.platform == "linux":
        # "pid:[4026531836]"
        return str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
    return ""


def _start_ticks(pid: int) -> int | None:
    if sys.platform == "linux":
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return None
        # The second field is the command in parentheses and may hold anything; the 22nd is the start time.
        fields = text.rpartition(")")[2].split()
        return None if fields[0] == "Z" else int(fields[19])
    import psutil

    try:
        return int(psutil.Process(pid).create_time() * 100)
    except psutil.NoSuchProcess:
        return None
