"""Where a host's children come from: one fork server for each interpreter, started when it is first needed."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Final

from runwright.engine.host.child import Child
from runwright.engine.host.exec_server import IDLE, Begun, Start, own_environment
from runwright.engine.host.fork_server import ForkServer
from runwright.engine.host.unusable import NoProcess
from runwright.engine.tasks import end_task, own_task

#: Seconds after which a fork server without children is ended.
IDLE_AFTER: Final = 300.0
#: Seconds that all fork servers may take to end at the last: each has fifteen.
_LAST: Final = 20.0


class ForkServers:
    """The fork servers of one host, by interpreter.

    Args:
        idle: Children that each keeps ready.
        idle_after: Seconds after which one without children is ended.
        environment: What children find in their environment; by default this process's own.
        afresh: Whether children are started afresh where they could be forked.
        begun: The process of the one for this interpreter, where that was begun already.
    """

    def __init__(
        self,
        *,
        idle: int = IDLE,
        idle_after: float = IDLE_AFTER,
        environment: Mapping[str, str] | None = None,
        afresh: bool = False,
        begun: Begun | None = None,
    ) -> None:
        self._idle = idle
        self._idle_after = idle_after
        self._environment = own_environment() if environment is None else dict(environment)
        self._afresh = afresh
        self._servers: dict[str, asyncio.Task[ForkServer]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._closing: set[asyncio.Task[None]] = set()
        if begun is not None:
            self._start(sys.executable, begun)

    async def warm(self, interpreter: str | None = None) -> None:
        """Have a fork server ready.

        Args:
            interpreter: The Python; ``None`` for this process's own.

        Raises:
            InterpreterUnusable: It is none, or has not this runwright.
        """
        name = interpreter or sys.executable
        await self._server(name)
        self._rest(name)

    async def spawn(self, interpreter: str | None = None) -> Child:
        """Have a child that waits for its first message.

        Args:
            interpreter: The Python that it runs; ``None`` for this process's own.

        Raises:
            InterpreterUnusable: It is none, or has not this runwright.
            NoProcess: The system gives no process now.
        """
        server = await self._server(interpreter or sys.executable)
        try:
            return await server.spawn()
        except NoProcess:
            if server.alive:
                raise
        # It died under the request; the next one is as good.
        return await (await self._server(interpreter or sys.executable)).spawn()

    async def close(self) -> None:
        """End all fork servers with everything of theirs."""
        for name in list(self._servers):
            self._retire(name)
        if self._closing:
            _, left = await asyncio.wait(self._closing, timeout=_LAST)
            for each in left:
                end_task(each)  # a child that cannot be ended outlived its fork server: it is watched no longer

    async def _server(self, name: str) -> ForkServer:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
        task = self._servers.get(name)
        if task is None or not _usable(task):
            self._retire(name)
            task = self._start(name)
        return await asyncio.shield(task)

    def _start(self, name: str, begun: Begun | None = None) -> "asyncio.Task[ForkServer]":
        how = Start(interpreter=name, environment=self._environment, idle=self._idle, afresh=self._afresh)
        task = self._servers[name] = own_task(ForkServer.start(how, lambda: self._rest(name), begun))
        return task

    def _rest(self, name: str) -> None:
        """End a fork server later that has no children now, unless it is asked again before."""
        if name in self._servers and name not in self._timers:
            later = asyncio.get_running_loop().call_later
            self._timers[name] = later(self._idle_after, self._retire, name)

    def _retire(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
        task = self._servers.pop(name, None)
        if task is not None:
            closing = own_task(_close(task))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


def _usable(task: "asyncio.Task[ForkServer]") -> bool:
    """Whether a server is on its way, or there."""
    if not task.done():
        return True
    return not task.cancelled() and task.exception() is None and task.result().alive


async def _close(starting: "asyncio.Task[ForkServer]") -> None:
    await asyncio.wait({starting})
    if not starting.cancelled() and starting.exception() is None:
        await starting.result().close()
