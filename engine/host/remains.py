"""What there is of a child: its process, its process session, and what left that; found, and ended to the last."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar, Final

from runwright.engine import process_table
from runwright.engine.process_table import Process
from runwright.engine.run_mark import RUN_MARK
from runwright.eventstore.events.event import ProcessIdentity

_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.05
#: Seconds in which a fork server fetches the end of a child.
_FETCHING: Final = 2.0


class Remains:
    """The living processes of one child; of another boot or pid namespace there are none.

    Args:
        child: The child's own process, the first of its process session.
        exited: Done once the child's process exited.
        orphans: Asks the fork server what is left of an ended child.

    Attributes:
        run_id: The run that it works for, whose mark its processes have.
        none: Whether the fork server has seen that nothing is left; then nobody has to look.
    """

    #: Seconds between two looks for the end of what cannot be ended.
    PATIENT: ClassVar[float] = 1.0

    def __init__(
        self,
        child: ProcessIdentity,
        exited: "asyncio.Future[None]",
        orphans: Callable[[int], Awaitable[tuple[ProcessIdentity, ...]]],
    ) -> None:
        self._child = child
        self.run_id: str | None = None
        self.none = False
        self._exited = exited
        self._orphans = orphans
        self._escaped: dict[int, Process] = {}
        #: Those whose descent was seen once: it cannot be seen any more when their parents ended.
        self._known: dict[int, int] = {child.pid: child.start}
        #: The process groups that any of them was in.
        self._groups = {child.pid}

    @property
    def escaped(self) -> tuple[ProcessIdentity, ...]:
        """What was found outside of the process session."""
        return self._named(self._escaped.values())

    async def end(self, grace: float, hard: float) -> tuple[ProcessIdentity, ...]:
        """SIGTERM, the grace, SIGKILL until nothing is left; answers what could not be ended."""
        if not await self._signalled(signal.SIGTERM, grace):
            if not self.none:
                await asyncio.to_thread(self._kill_groups)  # nothing was seen; something may be too quick for that
            return ()
        return self._named(await self._signalled(signal.SIGKILL, hard))

    async def find(self) -> list[Process]:
        """Everything of the child that has not ended."""
        if not self._exited.done():
            found = await asyncio.to_thread(self._find, ())
            if found:
                return found
            # Its process is gone; what that left behind is known to whoever fetches its end.
            await asyncio.wait({self._exited}, timeout=_FETCHING)
        if self.none:
            return []
        return await asyncio.to_thread(self._find, await self._orphans(self._child.pid))

    async def _signalled(self, number: signal.Signals, seconds: float) -> list[Process]:
        """Signal everything there is, and what comes of it meanwhile, until nothing is left or time is up."""
        until, pause = time.monotonic() + seconds, _FIRST_PAUSE
        told: set[tuple[int, int]] = set()
        while left := await self.find():
            fresh = [each for each in left if (each.pid, each.start) not in told]
            await asyncio.to_thread(self._send, fresh, number)
            told |= {(each.pid, each.start) for each in fresh}
            if time.monotonic() >= until:
                return left
            # What forks faster than it is looked for is not waited for.
            pause = _FIRST_PAUSE if fresh else min(2 * pause, _LONGEST_PAUSE)
            await asyncio.wait({self._exited}, timeout=pause)
            if not fresh and self._exited.done():
                await asyncio.sleep(pause)
        return []

    def _send(self, processes: Iterable[Process], number: signal.Signals) -> None:
        for each in processes:
            process_table.send(each, number)
            if number == signal.SIGTERM:
                process_table.send(each, signal.SIGCONT)  # one that was stopped hears nothing else
        if number == signal.SIGKILL:
            self._kill_groups()

    def _kill_groups(self) -> None:
        for group in self._groups:
            first = process_table.look(group)
            # While a group has a member, its number is given to no other process.
            if first is None or first.start == self._known.get(group):
                process_table.kill_group(group)

    def _find(self, orphans: Iterable[ProcessIdentity]) -> list[Process]:
        table = [each for each in process_table.every() if not each.ended]
        orphaned = {(each.pid, each.start) for each in orphans}
        found = {each.pid: each for each in table if self._is_ours(each) or (each.pid, each.start) in orphaned}
        for each in process_table.below(list(found), table):
            found[each.pid] = each
        for each in found.values():
            self._known[each.pid] = each.start
            self._groups.add(each.group)
            if each.session != self._child.pid:
                self._escaped[each.pid] = each
        return list(found.values())

    def _is_ours(self, process: Process) -> bool:
        if process.pid == self._child.pid:
            return process.start == self._child.start
        if self._known.get(process.pid) == process.start:
            return True
        if process.start < self._child.start:
            return False
        if process.session == self._child.pid:
            return True
        return self.run_id is not None and process_table.environment(process.pid).get(RUN_MARK) == self.run_id

    def _named(self, processes: Iterable[Process]) -> tuple[ProcessIdentity, ...]:
        boot, namespace = self._child.boot, self._child.namespace
        return tuple(
            ProcessIdentity(boot=boot, namespace=namespace, pid=each.pid, start=each.start) for each in processes
        )
