"""What a dead holder's runs left running: found by identity, process session and environment, and ended whole."""

import signal
import time
from collections.abc import Collection, Iterator

from attrs import frozen

from runwright.engine import process_table
from runwright.engine.process_table import Process
from runwright.engine.processes import own_identity
from runwright.engine.run_mark import RUN_MARK
from runwright.eventstore.events.event import ProcessIdentity

#: Seconds between SIGTERM and SIGKILL, and how long SIGKILL may take.
TERM_GRACE = 2.0
KILL_GRACE = 10.0
_PAUSE = 0.01


@frozen(kw_only=True)
class Leftover:
    """A worker whose holder is gone, and what it may have left.

    Attributes:
        run_id: The run.
        worker: The worker epoch.
        process: The worker's own process, the first of its process session; ``None`` where it was the holder itself.
        registered: Processes that it named.
    """

    run_id: str
    worker: str = ""
    process: ProcessIdentity | None = None
    registered: tuple[ProcessIdentity, ...] = ()

    @property
    def named(self) -> tuple[ProcessIdentity, ...]:
        """All processes of it that are known by their identity."""
        return self.registered if self.process is None else (self.process, *self.registered)


def end_leftovers(left: Collection[Leftover]) -> frozenset[str]:
    """End what of these workers is still alive, because what it does must not overlap with what comes next.

    Processes of another boot are gone, those of another pid namespace are never signalled.

    Returns:
        The runs of which something could not be ended.
    """
    wanted = _Wanted(left)
    if not left or not _ends(wanted, signal.SIGTERM, TERM_GRACE):
        return frozenset()
    return frozenset(_ends(wanted, signal.SIGKILL, KILL_GRACE).values())


class _Wanted:
    """By what the processes of some workers are known."""

    def __init__(self, left: Collection[Leftover]) -> None:
        own = own_identity()
        self._own = own.pid
        self._runs = frozenset(each.run_id for each in left)
        self._exact: dict[tuple[int, int], str] = {}
        self._sessions: dict[int, tuple[int, str]] = {}
        for each in left:
            here = [one for one in each.named if (one.boot, one.namespace) == (own.boot, own.namespace)]
            self._exact.update({(one.pid, one.start): each.run_id for one in here})
            if each.process is not None and each.process in here:
                self._sessions[each.process.pid] = (each.process.start, each.run_id)

    def living(self) -> Iterator[tuple[Process, str]]:
        """Every process of theirs that has not ended, with its run."""
        for process in process_table.every():
            if process.pid != self._own and not process.ended:
                run_id = self._run_of(process)
                if run_id is not None:
                    yield process, run_id

    def _run_of(self, process: Process) -> str | None:
        exact = self._exact.get((process.pid, process.start))
        if exact is not None:
            return exact
        if process.session in self._sessions:
            start, run_id = self._sessions[process.session]
            leader = process_table.look(process.session)
            # While a session has a member, its number is given to no other process. One that began it anew after
            # it was empty shows by another first process, and its members started later than ours could.
            if process.start >= start and (leader is None or leader.start == start):
                return run_id
        mark = process_table.environment(process.pid).get(RUN_MARK)
        return mark if mark in self._runs else None


def _ends(wanted: _Wanted, number: signal.Signals, grace: float) -> dict[Process, str]:
    """Signal everything of these workers, and what it starts meanwhile, until nothing is left or time is up."""
    until = time.monotonic() + grace
    told: set[Process] = set()
    while left := dict(wanted.living()):
        for process in left.keys() - told:
            process_table.send(process, number)
        told |= left.keys()
        if time.monotonic() >= until:
            return left
        time.sleep(_PAUSE)
    return {}
