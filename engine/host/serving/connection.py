"""One client's connection: frames in, replies and events out, each bounded; whatever it sends ends it alone."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from runwright import __version__
from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.attendance import Voice
from runwright.engine.host.serving.bounds import HELLO, HIGH_WATER, LARGE, LAST_WORDS, MOST_CALLS, MOST_SUBSCRIPTIONS
from runwright.engine.host.serving.dispatcher import Dispatcher
from runwright.engine.protocol.envelopes import Call, Event, Hello, Reply, unwrap, wrap
from runwright.engine.protocol.errors import FrameInvalid, HostBusy, MessageInvalid, ProtocolError, ProtocolUnknown
from runwright.engine.protocol.failures import failure_of, outcome_of
from runwright.engine.protocol.limits import MAX_CALL, PROTOCOL, is_id
from runwright.engine.protocol.operations import OPERATIONS, Lane
from runwright.engine.tasks import end_task, own_task
from runwright.engine.wire.errors import WireError
from runwright.engine.wire.frames import MAX_FRAME, decode_message, encode_frame
from runwright.engine.wire.parts import Assembler
from runwright.eventstore.errors import PayloadTooLarge
from runwright.eventstore.values import JsonObject


class Gone(Exception):
    """The client is not there any more."""


class Connection:
    """Serves one client until it leaves or breaks the rules.

    Args:
        reader: What it sends.
        writer: What it is sent.
        dispatcher: Answers calls.
        epoch: The host's epoch.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dispatcher: Dispatcher, epoch: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._dispatcher = dispatcher
        self._epoch = epoch
        self._voice = Voice()
        self._assembler = Assembler(MAX_CALL)
        self._sending = asyncio.Lock()
        self._calls: set[asyncio.Task[None]] = set()
        self._subscriptions: dict[str, asyncio.Task[None]] = {}
        writer.transport.set_write_buffer_limits(high=HIGH_WATER)

    @property
    def subscriptions(self) -> int:
        """How many it has."""
        return len(self._subscriptions)

    async def serve(self) -> None:
        """Greet and answer, until the client leaves or breaks the rules."""
        try:
            await self._greet()
            while True:
                await self._take(await self._next())
        except Gone:
            pass  # the client has left, and nothing is owed to it
        except ProtocolError as error:
            # Named for the client; what follows on this connection cannot be trusted.
            with suppress(Gone):
                await self._refuse(None, error)
        finally:
            await self._end()

    async def _greet(self) -> None:
        try:
            async with asyncio.timeout(HELLO):
                hello = await self._next()
        except TimeoutError:
            raise MessageInvalid("$.type", "is not hello within ten seconds") from None
        if not isinstance(hello, Hello):
            raise MessageInvalid("$.type", "is not hello, which comes first")
        if hello.protocol != PROTOCOL:
            raise ProtocolUnknown(hello.protocol, PROTOCOL, __version__)
        await self._send(wrap(Hello(protocol=PROTOCOL, version=__version__, epoch=self._epoch)))

    async def _next(self) -> Hello | Call | Reply | Event:
        while True:
            try:
                raw = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as rest:
                if rest.partial:
                    raise FrameInvalid("A frame breaks off.") from None
                raise Gone from None
            except asyncio.LimitOverrunError:
                raise FrameInvalid(f"A frame is over {MAX_FRAME:,} bytes.") from None
            except OSError:
                raise Gone from None
            # Reading a large one takes a while, and others are served meanwhile.
            read = self._read(raw) if len(raw) < LARGE else await asyncio.to_thread(self._read, raw)
            match read:
                case None:
                    pass
                case (call_id, error):
                    await self._refuse(call_id, error)
                case envelope:
                    return envelope

    def _read(self, raw: bytes) -> Hello | Call | Reply | Event | tuple[str, ProtocolError] | None:
        """Read a frame: an envelope, a call ID and why that call does not fit, or nothing while more parts come.

        Raises:
            FrameInvalid: It is no frame.
            MessageInvalid: It is no envelope, and no call that could be refused.
        """
        try:
            message = self._assembler.take(decode_message(raw[:-1], MAX_FRAME))
        except WireError as refused:
            raise FrameInvalid(refused.message) from None
        if message is None:
            return None
        try:
            return unwrap(message)
        except MessageInvalid as error:
            call_id = message.get("call_id")
            if message.get("type") != "call" or not is_id(call_id):
                raise
            assert isinstance(call_id, str), "it is an ID"
            return call_id, error

    async def _take(self, envelope: Hello | Call | Reply | Event) -> None:
        if not isinstance(envelope, Call):
            raise MessageInvalid("$.type", "is not call")
        if self._crowded(envelope):
            await self._refuse(envelope.call_id, HostBusy("calls under way on one connection"))
            return
        self._keep(self._answer(envelope), f"call {envelope.operation}")

    def _crowded(self, call: Call) -> bool:
        """Whether a call has to be refused; what is short goes on where long ones have filled their half."""
        operation = OPERATIONS.get(call.operation)
        long = operation is not None and operation.lane is Lane.LONG
        return len(self._calls) >= (MOST_CALLS // 2 if long else MOST_CALLS)

    async def _answer(self, call: Call) -> None:
        with suppress(Gone):
            if call.operation in OPERATIONS and OPERATIONS[call.operation].streams:
                await self._begin(call)
            else:
                await self._send(wrap(await self._dispatcher.reply(call, self._voice)))

    async def _begin(self, call: Call) -> None:
        """Answer a call that events may follow, and follow."""
        if len(self._subscriptions) >= MOST_SUBSCRIPTIONS:
            await self._refuse(call.call_id, HostBusy("subscriptions on one connection"))
            return
        if call.call_id in self._subscriptions:
            await self._refuse(call.call_id, MessageInvalid("$.call_id", "is that of a subscription"))
            return
        reply = await self._dispatcher.reply(call, self._voice)
        await self._send(wrap(reply))
        if reply.error is not None:
            return
        asked = Asked.of(call)
        if (replaced := getattr(asked.payload, "replaces", None)) is not None:
            self._drop(replaced)
        if getattr(asked.payload, "follow", True):
            since = reply.answer.get("next", 0) if reply.answer else 0
            assert isinstance(since, int)
            self._follow(asked, since)

    def _follow(self, asked: Asked, since: int) -> None:
        call_id = asked.call.call_id
        task = own_task(self._followed(asked, since), name=f"subscription {asked.operation.name}")
        self._subscriptions[call_id] = task
        task.add_done_callback(lambda _: self._subscriptions.pop(call_id, None))

    async def _followed(self, asked: Asked, since: int) -> None:
        with suppress(Gone):
            await self._dispatcher.following.follow(asked, self._event, since)

    def _drop(self, call_id: str) -> None:
        if (task := self._subscriptions.get(call_id)) is not None:
            end_task(task)

    def _keep(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = own_task(work, name=name)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _event(self, event: Event) -> None:
        await self._send(wrap(event))

    async def _refuse(self, call_id: str | None, error: ProtocolError) -> None:
        await self._send(wrap(Reply(call_id=call_id, outcome=outcome_of(error), error=failure_of(error))))

    async def _send(self, message: JsonObject) -> None:
        """Send a message when the ones before it have left; a client that does not read keeps only itself waiting."""
        try:
            frame = encode_frame(message)
        except PayloadTooLarge:
            # A page that somebody's projection made too large, for one: the call is answered all the same.
            frame = encode_frame(_too_large(message))
        try:
            async with self._sending:
                if self._writer.is_closing():
                    raise Gone
                self._writer.write(frame)
                await self._writer.drain()
        except OSError:
            raise Gone from None

    async def _end(self) -> None:
        """End what only this client waits for; commands it gave go on, and their receipts wait for it."""
        self._dispatcher.attendance.left(self._voice)
        for task in list(self._subscriptions.values()):
            end_task(task)
        self._writer.close()
        try:
            async with asyncio.timeout(LAST_WORDS):
                await self._writer.wait_closed()
        except (TimeoutError, OSError):
            # It does not take what it was sent.
            self._writer.transport.abort()


def _too_large(message: JsonObject) -> JsonObject:
    call_id = message.get("call_id")
    error = PayloadTooLarge("An answer", MAX_FRAME)
    return wrap(Reply(call_id=str(call_id), outcome=outcome_of(error), error=failure_of(error)))
