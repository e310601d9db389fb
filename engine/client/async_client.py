"""The client for programs with a loop: the same operations as methods to await, many under way at once."""

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

from runwright.engine.client import following
from runwright.engine.client.asking import Ask, Document, Steps, answered
from runwright.engine.client.async_line import AsyncLine
from runwright.engine.client.client import PATIENCE
from runwright.engine.client.connect import place_of
from runwright.engine.client.line import Lost
from runwright.engine.client.operations import Asynchronous
from runwright.engine.client.patience import Patience, is_passing
from runwright.engine.client.starting import start_host
from runwright.engine.identity import new_id
from runwright.engine.protocol.envelopes import Call, Event, Reply
from runwright.engine.protocol.errors import HostUnavailable
from runwright.engine.protocol.failures import error_of

T = TypeVar("T")


class AsyncClient(Asynchronous):
    """A connection to the host of a state directory; its methods are those of `Client`, with ``await``.

    Open it with ``async with await AsyncClient.connect(home) as client``.

    Args:
        home: The state directory.
        client: Who asks: ``cli``, ``engine``, or a word of your own.
        start: Whether a host is started where none lives.
        patience: Seconds for which a lost host is looked for again.
    """

    def __init__(self, home: Path, *, client: str, start: bool, patience: float) -> None:
        self.home = home
        self.client = client
        self._start = start
        self._patience = patience
        self._line: AsyncLine | None = None
        self._dialling = asyncio.Lock()
        self._calls = 0
        self._subscriptions: set[AsyncSubscription[Any]] = set()

    @classmethod
    async def connect(
        cls, home: str | os.PathLike[str], *, client: str = "engine", start: bool = False, patience: float = PATIENCE
    ) -> Self:
        """Connect to the host of a state directory; arguments and errors are those of `Client.connect`."""
        found = cls(Path(home), client=client, start=start, patience=patience)
        try:
            found._line = await found.dial()
        except Lost as lost:
            raise HostUnavailable(found.home, str(lost)) from None
        return found

    @property
    def epoch(self) -> str | None:
        """The epoch of the host that was reached last."""
        return None if self._line is None else self._line.hello.epoch

    async def close(self) -> None:
        """Close the connection, and end the subscriptions; twice does no harm."""
        line, self._line = self._line, None
        if line is not None:
            await line.close()
        for each in list(self._subscriptions):
            await each.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.close()

    # --- subscriptions ------------------------------------------------------------------------------------------

    def events_subscribe(
        self, run_id: str | None = None, *, after: int = 0, types: Sequence[str] = (), values: bool = False
    ) -> "AsyncSubscription[Document]":
        """Events after a position, then new ones as they commit, each exactly once."""
        return AsyncSubscription(self, following.Events(run_id, after=after, types=types, values=values))

    def view_subscribe(self, run_id: str | None = None, *, after: int = 0) -> "AsyncSubscription[Document]":
        """A run's view (`RunViewed`) until it ends, or all live runs (`LiveRuns`), now and whenever they change."""
        return AsyncSubscription(self, following.View(run_id, after=after))

    def session_subscribe(self, session: str, epoch: str | None = None) -> "AsyncSubscription[Document]":
        """A session's view (`SessionViewed`), now and whenever it changes.

        Its coordinator names its epoch: a view whose current message says ``deliver`` hands that out, once. It then
        ends with `HostUnavailable` where the connection is lost: attach again.
        """
        return AsyncSubscription(self, following.Session(session, epoch))

    def logs_subscribe(self, run_id: str, *, node: str | None = None, after: int = 0) -> "AsyncSubscription[str]":
        """The lines of what a run's code wrote and writes, until it has ended."""
        return AsyncSubscription(self, following.Lines(run_id, node=node, after=after))

    async def gone(self, timeout: float | None = None) -> bool:
        """Wait until the host has closed the connection, as it does when it exits; whether it has."""
        line = self._line
        if line is None:
            return True
        try:
            async with asyncio.timeout(timeout):
                await line.ended()
        except TimeoutError:
            return False
        return True

    # --- inside -------------------------------------------------------------------------------------------------

    async def carry(self, steps: Steps[T]) -> T:
        """Ask what a question's steps ask, and answer what comes of them."""
        try:
            ask = next(steps)
            while True:
                ask = steps.send(await self._asked(ask))
        except StopIteration as end:
            return cast(T, end.value)

    async def dial(self) -> AsyncLine:
        """A new connection to the host; raises `Lost` where there is none."""
        path = place_of(self.home)
        try:
            if path is None:
                raise Lost("there is no store yet")
            return await AsyncLine.open(path)
        except Lost:
            if not self._start:
                raise
        await asyncio.to_thread(start_host, self.home)
        path = place_of(self.home)
        if path is None:
            raise Lost("a host was started, and there is no store")
        return await AsyncLine.open(path)

    def call_of(self, ask: Ask) -> Call:
        """One try of a question."""
        self._calls += 1
        return Call(
            call_id=f"{self._calls}",
            client_id=self.client,
            operation=ask.operation,
            key=ask.key,
            run_id=ask.run_id,
            expected_revision=ask.expected,
            payload=ask.payload,
        )

    def patient(self) -> Patience:
        """How long something that was lost is tried again from now on."""
        return Patience(self.home, self._patience)

    async def _asked(self, ask: Ask) -> Reply:
        """Try until there is a reply that lasts; a command keeps its key."""
        if ask.keyed and ask.key is None:
            ask = ask.under(new_id(time.time_ns() // 1000, os.urandom))
        patience = self.patient()
        while True:
            try:
                reply = await (await self._reached()).ask(self.call_of(ask))
            except Lost as lost:
                if not ask.again:
                    raise HostUnavailable(self.home, str(lost)) from None
                await asyncio.sleep(patience.delay(str(lost)))
                continue
            if not (ask.again and is_passing(reply) and patience.left):
                return reply
            await asyncio.sleep(patience.delay("the store is unavailable"))

    async def _reached(self) -> AsyncLine:
        """The connection; a new one where the last was lost, made once however many wait for it."""
        async with self._dialling:
            if self._line is None or self._line.closed:
                self._line = await self.dial()
            return self._line

    def keep(self, subscription: "AsyncSubscription[Any]") -> None:
        """End a subscription with the client."""
        self._subscriptions.add(subscription)

    def forget(self, subscription: "AsyncSubscription[Any]") -> None:
        """It has ended by itself."""
        self._subscriptions.discard(subscription)


class AsyncSubscription(Generic[T]):
    """An asynchronous iterator over what comes, on a connection of its own; it goes on after a lost connection.

    Attributes:
        position: Where it stands; hand it in as ``after`` to go on from there.
    """

    def __init__(self, client: AsyncClient, followed: following.Following[T]) -> None:
        self._client = client
        self._followed = followed
        self._line: AsyncLine | None = None
        self._call_id = ""
        self._ready: list[T] = []
        self._ended = False
        client.keep(self)

    @property
    def position(self) -> int:
        """The position of what was handed out last."""
        return self._followed.position

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        patience: Patience | None = None
        while not self._ready and not self._ended:
            try:
                await self._advance()
                patience = None
            except Lost as lost:
                await self._drop()
                if not self._followed.resumes:
                    raise HostUnavailable(self._client.home, str(lost)) from None
                patience = patience or self._client.patient()
                await asyncio.sleep(patience.delay(str(lost)))
        if not self._ready:
            raise StopAsyncIteration
        return self._ready.pop(0)

    async def close(self) -> None:
        """End it; twice does no harm."""
        self._ended = True
        await self._drop()
        self._client.forget(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _advance(self) -> None:
        if self._line is None:
            await self._begin()
            return
        event = await self._line.event(self._call_id)
        if event.kind == "end":
            await self._end(event)
        else:
            self._ready += self._followed.take(event)

    async def _begin(self) -> None:
        self._line = await self._client.dial()
        call = self._client.call_of(self._followed.ask())
        self._call_id = call.call_id
        reply = await self._line.ask(call, follow=True)
        if is_passing(reply):
            raise Lost("the store is unavailable")
        self._ready += self._followed.begun(answered(reply))

    async def _end(self, event: Event) -> None:
        failure = following.ending(event)
        if failure is None:
            await self.close()
        elif following.goes_on(failure):
            raise Lost(failure.code)
        else:
            raise error_of(failure)

    async def _drop(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            await line.close()
