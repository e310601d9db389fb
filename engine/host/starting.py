"""Starting a host in the background: detached, and heard of once it serves or when it does not."""

import fcntl
import os
import select
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from runwright.engine.client.connect import find_host
from runwright.engine.host.readiness import VARIABLE, NotReady, hear
from runwright.engine.host.unstarted import HostUnstarted
from runwright.engine.run_mark import RUN_MARK
from runwright.eventstore.home import Home, check_file, create_file

#: Seconds that a host may take to serve: recovery ends what an earlier one left first, which may resist for twelve.
PATIENCE: Final = 60.0
#: Seconds between two looks for the host of somebody who may be quicker.
_PAUSE: Final = 0.05
#: Seconds for which whoever finds somebody else at it lets them; one that was stopped half-way holds up nobody longer.
_TURN: Final = 10.0


def start_host(home: Path, *, command: Sequence[str] | None = None, patience: float = PATIENCE) -> None:
    """Start a host in the background and wait until it serves; where somebody else was quicker, theirs serves.

    It leads a process session of its own, stands in the state directory, and writes to ``host.log``.

    Args:
        home: The state directory; it is made where there is none.
        command: What to start; by default ``runwright host run``.
        patience: Seconds to wait.

    Raises:
        HostUnstarted: It does not serve, and why; or an error of the state directory.
    """
    place = Home(home)
    place.prepare()
    check_file(place.host_log)
    with _turn(place.path) as ours:
        if ours:
            _start(place, command or _command(place.path), patience)


@contextmanager
def _turn(home: Path) -> Iterator[bool]:
    """Have one at a time start a host, and say whether none has come meanwhile: many may find none in one moment."""
    descriptor = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        until = time.monotonic() + _TURN
        while not _locked(descriptor) and time.monotonic() < until and find_host(home) is None:
            time.sleep(_PAUSE)
        yield find_host(home) is None
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start(place: Home, command: Sequence[str], patience: float) -> None:
    listening, telling = os.pipe()
    try:
        try:
            os.set_inheritable(telling, True)
            pid = _spawn(command, place, telling)
        finally:
            os.close(telling)
        threading.Thread(target=os.waitpid, args=(pid, 0), name="runwright-host-end", daemon=True).start()
        told = _wait(place.path, listening, patience)
    finally:
        os.close(listening)
    if told is not None:
        raise HostUnstarted(told)


def _command(home: Path) -> list[str]:
    return [sys.executable, "-m", "runwright.cli.main", "host", "run", "--home", str(home)]


def _spawn(command: Sequence[str], place: Home, telling: int) -> int:
    environment = {name: value for name, value in os.environ.items() if name != RUN_MARK}
    with suppress(FileExistsError):
        os.close(create_file(place.host_log))  # ours to read and write under any umask, as the system would not make it
    log = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW
    return os.posix_spawnp(
        command[0],
        list(command),
        {**environment, VARIABLE: str(telling)},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(place.host_log), log, 0),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )


def _wait(home: Path, listening: int, patience: float) -> NotReady | None:
    """Wait for a host, whosever it is; the one started here waits for the lock as long as another has it."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if select.select([listening], [], [], _PAUSE)[0]:
            told = hear(listening)
            return None if find_host(home) is not None else told
        if find_host(home) is not None:
            return None
    return NotReady(
        "host_unavailable",
        f"The host was not ready within {patience:.0f} seconds.",
        "`runwright host status` shows whether it is by now; its host.log tells more",
    )
