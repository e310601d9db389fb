"""The host on its loop: takes the store, recovers, serves, drains."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable

from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.embedded.holder import Holder
from runwright.engine.host.children import ForkServers
from runwright.engine.host.exec_server import Begun
from runwright.engine.host.idling import Idling
from runwright.engine.host.launcher import WorkerLauncher
from runwright.engine.host.provisioning import Provisioning
from runwright.engine.host.readiness import Readiness
from runwright.engine.host.resolver import Resolvers, hosted_code
from runwright.engine.host.serving.server import Server
from runwright.engine.host.serving.surface import HostFacts, Surface
from runwright.engine.host.settings import IDLE_EXIT, HostSettings
from runwright.engine.host.troubles import Troubles
from runwright.engine.reading.moment import moment_of
from runwright.eventstore.envelope import Head
from runwright.eventstore.errors import LOST, StoreUnavailable
from runwright.eventstore.home import Home
from runwright.projections.control.requests import REQUESTS, UNSETTLED

_log = logging.getLogger("runwright.host")


def hold(
    home: Home, settings: HostSettings, readiness: Readiness, ready: Callable[[], object], begun: Begun
) -> Head | None:
    """Take the store, and be its host until somebody stops it.

    Args:
        home: The state directory.
        settings: How.
        readiness: Whoever started this host.
        ready: Called once it serves.
        begun: The process of the fork server for this interpreter.

    Returns:
        The log's head; ``None`` where the end could not be recorded.

    Raises:
        StoreInUse: Another process holds the store; and the other errors of `EventLog.open`.
    """
    return asyncio.run(_served(home, settings, readiness, ready, begun))


async def _served(
    home: Home, settings: HostSettings, readiness: Readiness, ready: Callable[[], object], begun: Begun
) -> Head | None:
    if readiness.wanted:
        os.chdir(home.path)  # in the background it keeps no other folder from being removed
        settings = settings.in_background()
    children = ForkServers(begun=begun)
    try:
        holder = await asyncio.to_thread(_holder, home, settings)
        host = Host(holder, children, settings)
        try:
            await children.warm()
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
        redact_after=settings.redact_after,
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
        idle_exit = self._settings.idle_exit
        self._idling = Idling(
            idle_exit or IDLE_EXIT,
            gone=lambda: not self._holder.log.in_place,
            moved=lambda: self._holder.log.head().position,
            busy=lambda: not (idle_exit and engine.settled) or self._attended or self._asks,
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
            # While the lock is held: whoever takes the store next finds no socket of this host.
            await self._server.close()
        await self._resolvers.close()
        failed = self._holder.log.failed
        if failed is None and not self._holder.log.in_place:
            failed = StoreUnavailable(LOST)
        head = await asyncio.to_thread(self._holder.close)
        if failed is not None:
            _log.error("host %s leaves: %s", self._holder.epoch, failed.message)
            raise failed
        _log.info("host %s has stopped", self._holder.epoch)
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
    def _asks(self) -> bool:
        """Whether a run waits for an answer: who gives it has the run go on, and not first a host to start."""
        with moment_of(self._holder.log) as moment:
            return any(moment.rows.count(REQUESTS, 1, state=state) for state in UNSETTLED)

    @property
    def _attended(self) -> bool:
        return self._server is not None and self._server.connections > 0
