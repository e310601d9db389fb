"""The host process: takes the store, recovers, serves, drains."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen

from runwright.engine.embedded.async_engine import GRACE, AsyncEngine
from runwright.engine.embedded.holder import Holder
from runwright.engine.host.children import ForkServers
from runwright.engine.host.host_log import HostLog
from runwright.engine.host.idling import Idling
from runwright.engine.host.launcher import WorkerLauncher
from runwright.engine.host.provisioning import Provisioning, SettledAgents
from runwright.engine.host.readiness import NotReady, Readiness
from runwright.engine.host.resolver import Resolvers, hosted_code
from runwright.engine.host.serving.server import Server
from runwright.engine.host.serving.surface import HostFacts, Surface
from runwright.engine.host.troubles import Troubles
from runwright.eventstore.envelope import Head
from runwright.eventstore.errors import StoreError
from runwright.eventstore.home import Home

_log = logging.getLogger("runwright.host")

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
    """

    capacity: int = field(factory=default_capacity)
    idle_exit: float | None = None
    grace: float = GRACE
    wait_lock: float | None = None
    user: Path | None = None
    agents: SettledAgents = _nobody
    unsafe_filesystem: bool = False
    old_host_gone: bool = False

    def in_background(self) -> "HostSettings":
        """The same for a host that was started because somebody needed one."""
        return evolve(
            self,
            idle_exit=IDLE_EXIT if self.idle_exit is None else self.idle_exit,
            wait_lock=LOCK_PATIENCE if self.wait_lock is None else self.wait_lock,
        )


def run_host(home: Path, settings: HostSettings, *, ready: Callable[[], object] = lambda: None) -> Head | None:
    """Be the host of a state directory until somebody stops it.

    Args:
        home: The state directory; it is made where there is none.
        settings: How.
        ready: Called once it serves.

    Returns:
        The log's head, to be kept elsewhere; ``None`` where the end could not be recorded.

    Raises:
        StoreInUse: Another process holds the store; and the other errors of `EventLog.open`.
    """
    readiness = Readiness.taken()
    try:
        place = Home(home)
        place.prepare()
        handler = HostLog(place.host_log)
    except StoreError as error:
        readiness.say(NotReady(error.code, error.message, error.hint))
        raise
    logger = logging.getLogger("runwright")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        return asyncio.run(_served(place, settings, readiness, ready))
    except StoreError as error:
        readiness.say(NotReady(error.code, error.message, error.hint))
        raise
    finally:
        logger.removeHandler(handler)
        handler.close()


async def _served(home: Home, settings: HostSettings, readiness: Readiness, ready: Callable[[], object]) -> Head | None:
    if readiness.wanted:
        os.chdir(home.path)  # in the background it keeps no other folder from being removed
        settings = settings.in_background()
    children = ForkServers()
    try:
        # By exec, and before the store's lock is taken: no child can ever hold it.
        await children.warm()
        holder = await asyncio.to_thread(_holder, home, settings)
        host = Host(holder, children, settings)
        try:
            await host.serve()
            readiness.say()
            ready()
            await host.stopped()
        finally:
            head = await host.close()
        return head
    finally:
        await children.close()


def _holder(home: Home, settings: HostSettings) -> Holder:
    return Holder.open(
        home.path,
        wait_lock=settings.wait_lock,
        unsafe_filesystem=settings.unsafe_filesystem,
        old_host_gone=settings.old_host_gone,
    )


class Host:
    """Everything of one host on its loop.

    Args:
        holder: The open store, with what its last holder left put away.
        children: Where its workers and resolvers come from.
        settings: How it is run.
    """

    def __init__(self, holder: Holder, children: ForkServers, settings: HostSettings) -> None:
        self._holder = holder
        self._settings = settings
        self._started_at = holder.clock.now()
        self._troubles = Troubles(holder.clock.now)
        provisioning = Provisioning(settings.agents, os.environ)
        self._launcher = WorkerLauncher(holder, children, provisioning, user=settings.user, trouble=self._troubles.note)
        self._resolvers = Resolvers(children, provisioning, user=settings.user)
        self._code = hosted_code(self._resolvers)
        self._engine: AsyncEngine | None = None
        self._server: Server | None = None
        self._idling: Idling | None = None
        self._grace = settings.grace
        self._told = asyncio.Event()

    async def serve(self) -> None:
        """Drive what may go on, listen, and begin to heed signals."""
        engine = self._engine = AsyncEngine(
            self._holder, code=self._code, launcher=self._launcher, capacity=self._settings.capacity, client="host"
        )
        surface = Surface(engine=engine, holder=self._holder, code=self._code, host=self, user=self._settings.user)
        self._server = await Server.open(surface)
        loop = asyncio.get_running_loop()
        # Nothing can be promised any more: the next host reads what was written.
        self._holder.log.when_failed(lambda: loop.call_soon_threadsafe(self.stop))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        if self._settings.idle_exit:
            self._idling = Idling(
                self._settings.idle_exit,
                moved=lambda: self._holder.log.head().position,
                busy=lambda: not engine.settled or self._attended,
                leave=self.stop,
            )
        _log.info("host %s serves", self._holder.epoch)

    async def stopped(self) -> None:
        """Wait until it is told to stop."""
        await self._told.wait()

    async def close(self) -> Head | None:
        """Drain: nothing new, workers park at their next boundary; then end what is left, and give the store back."""
        self._told.set()
        if self._idling is not None:
            self._idling.close()
        if self._engine is not None:
            await self._engine.drain(grace=self._grace)
        if self._server is not None:
            # While the lock is held: the socket that is removed is no other host's.
            await self._server.close()
        await self._resolvers.close()
        failed = self._holder.log.failed
        head = await asyncio.to_thread(self._holder.close)
        _log.info("host %s has stopped", self._holder.epoch)
        if failed is not None:
            raise failed
        return head

    # --- what clients see and say -------------------------------------------------------------------------------

    def facts(self) -> HostFacts:
        """As the serving surface has it."""
        return HostFacts(
            draining=self._told.is_set(),
            started_at=self._started_at,
            capacity=self._settings.capacity,
            workers=self._launcher.working,
            launching=self._launcher.launching,
            troubles=self._troubles.seen(),
        )

    def stop(self, grace: float | None = None) -> None:
        """Begin to drain, and exit after it; returns at once."""
        if grace is not None:
            self._grace = grace
        self._told.set()

    @property
    def _attended(self) -> bool:
        return self._server is not None and self._server.connections > 0
