"""What a dead holder's runs left running: processes found by their environment, ended whole."""

import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from runwright.engine.execution.child import RUN_MARK

#: Seconds between SIGTERM and SIGKILL, and how long SIGKILL may take.
TERM_GRACE = 2.0
KILL_GRACE = 10.0
_PAUSE = 0.01


def end_leftovers(runs: Collection[str]) -> frozenset[str]:
    """End what programs of these runs are still alive, because what they do must not overlap with what comes next.

    Returns:
        The runs of which something could not be ended.
    """
    wanted = frozenset(runs)
    if not wanted or not _ends(wanted, signal.SIGTERM, TERM_GRACE):
        return frozenset()
    return frozenset(_ends(wanted, signal.SIGKILL, KILL_GRACE).values())


def _ends(runs: frozenset[str], number: signal.Signals, grace: float) -> dict[int, str]:
    """Signal everything of these runs, and what it starts meanwhile, until nothing is left or time is up."""
    until = time.monotonic() + grace
    told: set[int] = set()
    while left := dict(_living(runs)):
        for pid in left.keys() - told:
            _signal(pid, number)
        told |= left.keys()
        if time.monotonic() >= until:
            return left
        time.sleep(_PAUSE)
    return {}


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return  # it ended by itself, which is what was wanted
    except PermissionError:
        return  # it became somebody else's; it is named in the outcome


def _living(runs: frozenset[str]) -> Iterator[tuple[int, str]]:
    own = os.getpid()
    for pid, environment in _environments():
        run = environment.get(RUN_MARK)
        if run in runs and run is not None and pid != own:
            yield pid, run


def _environments() -> Iterator[tuple[int, dict[str, str]]]:
    if sys.platform == "linux":
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                raw = (folder / "environ").read_bytes()
            except OSError:
                continue  # it ended, or is not ours to read
            if RUN_MARK.encode() in raw:
                pairs = (each.partition(b"=") for each in raw.split(b"\0"))
                yield int(folder.name), {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
        return
    import psutil  # type: ignore[import-untyped, unused-ignore]  # no types; only where /proc does not tell

    for process in psutil.process_iter():
        try:
            yield process.pid, process.environ()
        except psutil.Error:
            continue
