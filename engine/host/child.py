"""A child process as its host sees it: spoken to over its channel, and ended whole."""

import asyncio
import socket
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from runwright.engine.host.remains import Remains
from runwright.engine.tasks import own_task
from runwright.engine.wire.frames import FrameReader
from runwright.engine.wire.parts import Assembler, frames_of
from runwright.engine.worker.channel import MAX_FROM_HOST
from runwright.engine.worker.envelope import Launch
from runwright.engine.worker.messages import FROM_CHILD, FROM_HOST, Command, FromChild, FromHost
from runwright.eventstore.events.event import ProcessIdentity

#: Bytes that are read at once. Nothing is read ahead of `Child.receive`: a flood waits in the child's own pipe.
_CHUNK: Final = 64 * 1024

FindOrphans = Callable[[int], Awaitable[tuple[ProcessIdentity, ...]]]


class Child:
    """Made by `ForkServer.spawn`; leads a process session of its own.

    Attributes:
        identity: Its process.
        status: Its exit code, once it exited and somebody could tell; negative: the number of the signal that
            ended it.
        escaped: Processes that had left its process session and were found by their descent, or by their mark.
        unkillable: Processes that were still there when it was given up to end them.
    """

    def __init__(self, identity: ProcessIdentity, connection: socket.socket, orphans: FindOrphans) -> None:
        self.identity = identity
        self.status: int | None = None
        self.escaped: tuple[ProcessIdentity, ...] = ()
        self.unkillable: tuple[ProcessIdentity, ...] = ()
        self._socket = connection
        self._exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._remains = Remains(identity, self._exited, orphans)
        self._frames = FrameReader()
        self._assembler = Assembler()
        self._arrived: deque[FromChild] = deque()
        self._sending = asyncio.Lock()
        self._ending: asyncio.Task[bool] | None = None

    # --- its channel ------------------------------------------------------------------------------------------

    async def send(self, message: FromHost) -> None:
        """Send a message; returns once the child's pipe has taken it.

        Raises:
            OSError: The child is gone.
            PayloadTooLarge: The message is over 2 GiB.
        """
        if isinstance(message, Launch):
            self._remains.run_id = message.run_id
        # A run's whole state may be large: it is written where it holds up nobody.
        large = isinstance(message, Command)
        frames = await asyncio.to_thread(_written, message) if large else _written(message)
        loop = asyncio.get_running_loop()
        async with self._sending:
            for frame in frames:
                await loop.sock_sendall(self._socket, frame)

    async def receive(self) -> FromChild | None:
        """The next message; ``None`` once nothing more comes.

        Raises:
            WireError: What came is no message; nothing behind it is read.
            OSError: The channel broke.
        """
        while not self._arrived:
            data = await asyncio.get_running_loop().sock_recv(self._socket, _CHUNK)
            if not data:
                self._frames.end()
                return None
            for frame in self._frames.feed(data):
                message = self._assembler.take(frame)
                if message is not None:
                    self._arrived.append(FROM_CHILD.read(message))
        return self._arrived.popleft()

    async def __aiter__(self) -> AsyncIterator[FromChild]:
        """Its messages until nothing more comes."""
        while (message := await self.receive()) is not None:
            yield message

    def close(self) -> None:
        """Close the channel, which a child does not outlive."""
        self._socket.close()

    # --- its end ----------------------------------------------------------------------------------------------

    async def exited(self) -> int | None:
        """Wait until it exited; answers its exit code, ``None`` where nobody could tell."""
        await asyncio.shield(self._exited)
        return self.status

    async def end(self, grace: float = 2.0, hard: float = 10.0) -> bool:
        """End it with everything that it started, and close the channel.

        Everything in its process session, and what left that and can still be found, hears SIGTERM, and SIGKILL
        after the grace, again and again until nothing is left. Asked again, it answers as it did, or tries anew
        where something was left.

        Args:
            grace: Seconds between SIGTERM and SIGKILL.
            hard: Seconds that SIGKILL may take.

        Returns:
            Whether nothing is left; otherwise `unkillable` names it.
        """
        if self._ending is None or (self._ending.done() and not self._ended_well(self._ending)):
            self._ending = own_task(self._end(grace, hard))
        return await asyncio.shield(self._ending)

    async def ended(self) -> None:
        """Wait until nothing is left of it, however long that takes, without ending anything."""
        while await self._remains.find():
            await asyncio.sleep(Remains.PATIENT)

    def told_exit(self, status: int | None, *, alone: bool) -> None:
        """Learn that its process exited and was fetched, and whether it was known to be the last of its own."""
        self.status = status
        self._remains.none = alone
        if not self._exited.done():
            self._exited.set_result(None)

    async def _end(self, grace: float, hard: float) -> bool:
        try:
            self.unkillable = await self._remains.end(grace, hard)
        finally:
            self.close()
        self.escaped = self._remains.escaped
        return not self.unkillable

    @staticmethod
    def _ended_well(ending: "asyncio.Task[bool]") -> bool:
        return not ending.cancelled() and ending.exception() is None and ending.result()


def _written(message: FromHost) -> list[bytes]:
    return list(frames_of(FROM_HOST.write(message), MAX_FROM_HOST))
