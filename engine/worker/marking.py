"""How a worker's processes are found again: by their run's mark, and by whom orphans are given to (Linux)."""

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Final

from runwright.engine.run_mark import RUN_MARK

#: Room for a run's ID in the environment that the fork server is started with.
ROOM: Final = "-" * 64
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36

#: Where this room stands in memory; 0 where there is none.
_room = 0


def keep_orphans() -> bool:
    """Have processes whose parent ends be given to this one, not to the system's first; whether that can be had."""
    return sys.platform == "linux" and not ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wake_with_parents_end() -> None:
    """Have this process go on, should it be stopped, when its parent ends: it could not see that otherwise (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)


def take_room() -> None:
    """Remember where the mark's room stands, and take the mark out of the environment of what is started from here."""
    global _room
    if os.environ.pop(RUN_MARK, None) == ROOM:
        _room = _address_of_room()


def mark(run_id: str) -> None:
    """Mark this process, what it forks and what it starts as its run's.

    The system shows of a process the memory that its environment was handed over in, so the mark is written into
    the room there: a process that is forked and never starts another program shows it too.
    """
    os.environ[RUN_MARK] = run_id
    if _room:
        raw = run_id.encode()[: len(ROOM)]
        ctypes.memmove(_room, raw.ljust(len(ROOM), b"\0"), len(ROOM))


def _address_of_room() -> int:
    """Where the room stands among what this process was started with."""
    if sys.platform != "linux":
        return 0
    # Behind the name, which may hold anything: where the environment starts and ends are the 50th and 51st of all.
    fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    block = ctypes.string_at(start, end - start)
    found = (b"\0" + block).find(f"\0{RUN_MARK}={ROOM}\0".encode())
    return 0 if found < 0 else start + found + len(RUN_MARK) + 1
