"""How a host is run."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen

from runwright.engine.host.limits import DRAIN_GRACE

#: Answers the executors that the settings of a project name, each with its specification.
SettledAgents = Callable[[Path], Mapping[str, str]]

#: Answers how many seconds after its end a run of a project loses its private values; ``None`` for never.
SettledAges = Callable[[Path | None], float | None]

#: Seconds after which a host that was started for somebody's command ends, when nothing is left to do.
IDLE_EXIT: Final = 600.0

#: Seconds that a host in the background waits for the store: the last one may just be stopping.
LOCK_PATIENCE: Final = 5.0


def default_capacity() -> int:
    """How many runs a host drives at once, unless it is told otherwise: a CPU each, and at least four."""
    return max(4, os.cpu_count() or 1)


def _nobody(project: Path | None) -> Mapping[str, str]:
    del project
    return {}


@frozen(kw_only=True)
class HostSettings:
    """How a host is run.

    Attributes:
        capacity: How many runs are driven at once.
        idle_exit: Seconds after which it ends when nothing is left to do, 0 for never; by default never in the
            foreground, and in the background after `IDLE_EXIT`.
        grace: Seconds that workers may take to stop.
        wait_lock: Seconds to wait for another holder of the store; by default not at all in the foreground, and in
            the background for `LOCK_PATIENCE`.
        user: The user's configuration folder, which may hold workflows.
        agents: Answers the executors that the settings of a project name.
        unsafe_filesystem: Whether to open the store on a network file system, too.
        old_host_gone: Whether somebody vouches for it that nothing of an earlier host lives in another container.
        redact_after: Answers how old the runs of a project may become.
    """

    capacity: int = field(factory=default_capacity)
    idle_exit: float | None = None
    grace: float = DRAIN_GRACE
    wait_lock: float | None = None
    user: Path | None = None
    agents: SettledAgents = _nobody
    unsafe_filesystem: bool = False
    old_host_gone: bool = False
    redact_after: SettledAges | None = None

    def in_background(self) -> "HostSettings":
        """The same for a host that was started because somebody needed one."""
        return evolve(
            self,
            idle_exit=IDLE_EXIT if self.idle_exit is None else self.idle_exit,
            wait_lock=LOCK_PATIENCE if self.wait_lock is None else self.wait_lock,
        )
