"""One connection to a host, on a loop: many calls at once, each with its own reply and its own events."""

import asyncio
from contextlib import suppress
from pathlib import Path

from runwright import __version__
from runwright.engine.client.asking import greeted
from runwright.engine.client.connect import reach
from runwright.engine.client.line import HELLO, Lost
from runwright.engine.protocol.envelopes import Call, Event, Hello, Reply, unwrap, wrap
from runwright.engine.protocol.errors import MessageInvalid
from runwright.engine.protocol.limits import PROTOCOL
from runwright.engine.wire.errors import WireError
from runwright.engine.wire.frames import MAX_FRAME, decode_message
from runwright.engine.wire.parts import frames_of
from runwright.eventstore.values import JsonObject


class _Inbox:
    """One event at most: what comes faster waits in the socket, and then in the host."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._full = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()

    async def put(self, event: Event) -> None:
        """Leave an event as soon as there is room."""
        await self._free.wait()
        self._events.append(event)
        self._free.clear()
        self._full.set()

    async def arrived(self) -> None:
        """Wait until there is one; whoever gives up waiting loses none."""
        await self._full.wait()

    def take(self) -> Event | None:
        """The event that is there."""
        if not self._events:
            return None
        self._full.clear()
        self._free.set()
        return self._events.pop()


class AsyncLine:
    """A connection whose host has said hello; `AsyncLine.open` makes one.

    Attributes:
        hello: What the host said.
    """

    hello: Hello

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: dict[str, asyncio.Future[Reply]] = {}
        self._followed: dict[str, _Inbox] = {}
        self._task: asyncio.Task[None] | None = None
        self._sending = asyncio.Lock()

    @classmethod
    async def open(cls, path: Path) -> "AsyncLine":
        """Connect and greet.

        Raises:
            Lost: Nobody serves there.
            ProtocolUnknown: The host speaks another version; and `PeerRefused`, where it is another user's.
        """
        connection = await asyncio.to_thread(reach, path)
        if connection is None:
            raise Lost("nobody listens")
        connection.setblocking(False)
        line = cls(*await asyncio.open_unix_connection(sock=connection, limit=MAX_FRAME))
        try:
            line.hello = await line._greet()
        except BaseException:
            await line.close()
            raise
        line._task = asyncio.create_task(line._listen(), name="runwright-client")
        return line

    @property
    def closed(self) -> bool:
        """Whether nothing can be asked on it any more."""
        return self._task is None or self._task.done()

    async def ask(self, call: Call, *, follow: bool = False) -> Reply:
        """Send a call and wait for its reply.

        Args:
            call: The call.
            follow: Whether events follow, to be had by `event`.

        Raises:
            Lost: The connection is gone.
        """
        if self.closed:
            raise Lost("the connection broke")
        answer = asyncio.get_running_loop().create_future()
        self._waiting[call.call_id] = answer
        if follow:
            self._followed[call.call_id] = _Inbox()
        try:
            await self._send(wrap(call))
            found: Reply = await answer
            return found
        finally:
            self._waiting.pop(call.call_id, None)

    async def event(self, call_id: str) -> Event:
        """The next event of a subscription.

        Raises:
            Lost: The connection is gone.
        """
        inbox = self._followed[call_id]
        assert self._task is not None, "it was asked, so it listens"
        while (event := inbox.take()) is None:
            if self._task.done():
                raise Lost("the host closed the connection")
            arrives = asyncio.create_task(inbox.arrived())
            try:
                await asyncio.wait({arrives, self._task}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                arrives.cancel()
        return event

    async def ended(self) -> None:
        """Wait until the connection is gone."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        """Close it; twice does no harm."""
        self.drop()
        if self._task is not None:
            await asyncio.wait({self._task})
        with suppress(OSError):
            await self._writer.wait_closed()

    def drop(self) -> None:
        """Close it without waiting until it is."""
        if self._task is not None:
            self._task.cancel()
        self._writer.close()
        self._lose()

    async def _greet(self) -> Hello:
        await self._send(wrap(Hello(protocol=PROTOCOL, version=__version__)))
        try:
            async with asyncio.timeout(HELLO):
                found = await self._next()
        except TimeoutError:
            raise Lost("the host does not answer") from None
        return greeted(found)

    async def _listen(self) -> None:
        try:
            while True:
                match await self._next():
                    case Reply(call_id=str(call_id)) as reply:
                        if (answer := self._waiting.get(call_id)) is not None and not answer.done():
                            answer.set_result(reply)
                    case Event() as event:
                        if (inbox := self._followed.get(event.call_id)) is not None:
                            await inbox.put(event)
                    case _:
                        return
        except (Lost, MessageInvalid):
            return
        finally:
            self._writer.close()
            self._lose()

    def _lose(self) -> None:
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(Lost("the host closed the connection"))
        self._waiting.clear()

    async def _next(self) -> Hello | Reply | Event | Call:
        try:
            raw = await self._reader.readuntil(b"\n")
        except (OSError, asyncio.IncompleteReadError):
            raise Lost("the host closed the connection") from None
        except asyncio.LimitOverrunError:
            raise MessageInvalid("$", "is larger than a frame") from None
        try:
            return unwrap(decode_message(raw[:-1], MAX_FRAME))
        except WireError as refused:
            raise MessageInvalid("$", refused.message) from None

    async def _send(self, message: JsonObject) -> None:
        try:
            async with self._sending:
                for frame in frames_of(message):
                    self._writer.write(frame)
                    await self._writer.drain()
        except OSError:
            raise Lost("the connection broke") from None
