"""The blocking client: every operation of the protocol as a method, tried again after a lost connection."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar, cast

from runwright.engine.client import following
from runwright.engine.client.asking import Ask, Document, Steps, answered
from runwright.engine.client.connect import place_of
from runwright.engine.client.line import Line, Lost
from runwright.engine.client.operations import Blocking
from runwright.engine.client.patience import Patience, is_passing
from runwright.engine.client.starting import start_host
from runwright.engine.identity import new_id
from runwright.engine.protocol.envelopes import Call, Event, Reply
from runwright.engine.protocol.errors import HostUnavailable
from runwright.engine.protocol.failures import error_of

T = TypeVar("T")

#: Seconds for which a lost host is looked for again.
PATIENCE: Final = 30.0


class Client(Blocking):
    """A connection to the host of a state directory; every call may come from any thread, one after another.

    Open it with ``with Client.connect(home) as client``. Commands return `Applied` or `Adopted`, questions what the
    protocol's reference says they answer; both raise what the same call raises in process.

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
        self._line: Line | None = None
        self._lock = threading.RLock()
        self._calls = 0
        self._subscriptions: set[Subscription[Any]] = set()

    @classmethod
    def connect(
        cls, home: str | os.PathLike[str], *, client: str = "cli", start: bool = False, patience: float = PATIENCE
    ) -> Self:
        """Connect to the host of a state directory.

        Args:
            home: The state directory.
            client: Who asks.
            start: Whether to start a host where none lives.
            patience: Seconds for which a host that is lost later is looked for again.

        Raises:
            HostUnavailable: None lives, or it does not answer; and what `start_host` raises.
            ProtocolUnknown: It speaks another version.
        """
        found = cls(Path(home), client=client, start=start, patience=patience)
        try:
            found._line = found.dial()
        except Lost as lost:
            raise HostUnavailable(found.home, str(lost)) from None
        return found

    @property
    def epoch(self) -> str | None:
        """The epoch of the host that was reached last."""
        return None if self._line is None else self._line.hello.epoch

    def close(self) -> None:
        """Close the connection, and end the subscriptions; twice does no harm."""
        self._drop()
        for each in list(self._subscriptions):
            each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    # --- subscriptions ------------------------------------------------------------------------------------------

    def events_subscribe(
        self, run_id: str | None = None, *, after: int = 0, types: Sequence[str] = (), values: bool = False
    ) -> "Subscription[Document]":
        """Events after a position, then new ones as they commit, each exactly once."""
        return Subscription(self, following.Events(run_id, after=after, types=types, values=values))

    def view_subscribe(self, run_id: str | None = None, *, after: int = 0) -> "Subscription[Document]":
        """A run's view (`RunViewed`) until it ends, or all live runs (`LiveRuns`), now and whenever they change."""
        return Subscription(self, following.View(run_id, after=after))

    def session_subscribe(self, session: str, epoch: str | None = None) -> "Subscription[Document]":
        """A session's view (`SessionViewed`), now and whenever it changes.

        Its coordinator names its epoch: a view whose current message says ``deliver`` hands that out, once. It then
        ends with `HostUnavailable` where the connection is lost: attach again.
        """
        return Subscription(self, following.Session(session, epoch))

    def logs_subscribe(self, run_id: str, *, node: str | None = None, after: int = 0) -> "Subscription[str]":
        """The lines of what a run's code wrote and writes, until it has ended."""
        return Subscription(self, following.Lines(run_id, node=node, after=after))

    def gone(self, timeout: float | None = None) -> bool:
        """Wait until the host has closed the connection, as it does when it exits; whether it has."""
        with self._lock:
            line = self._line
        try:
            while line is not None and line.receive(timeout) is not None:
                pass
        except Lost:
            self._drop()
            return True
        return line is None

    # --- inside -------------------------------------------------------------------------------------------------

    def carry(self, steps: Steps[T]) -> T:
        """Ask what a question's steps ask, and answer what comes of them."""
        try:
            ask = next(steps)
            while True:
                ask = steps.send(self._asked(ask))
        except StopIteration as end:
            return cast(T, end.value)

    def dial(self) -> Line:
        """A new connection to the host; raises `Lost` where there is none."""
        path = place_of(self.home)
        try:
            if path is None:
                raise Lost("there is no store yet")
            return Line(path)
        except Lost:
            if not self._start:
                raise
        start_host(self.home)
        path = place_of(self.home)
        if path is None:
            raise Lost("a host was started, and there is no store")
        return Line(path)

    def call_of(self, ask: Ask) -> Call:
        """One try of a question."""
        with self._lock:
            self._calls += 1
            number = self._calls
        return Call(
            call_id=f"{number}",
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

    def keep(self, subscription: "Subscription[Any]") -> None:
        """End a subscription with the client."""
        self._subscriptions.add(subscription)

    def forget(self, subscription: "Subscription[Any]") -> None:
        """It has ended by itself."""
        self._subscriptions.discard(subscription)

    def _drop(self) -> None:
        with self._lock:
            if self._line is not None:
                self._line.close()
                self._line = None

    def _asked(self, ask: Ask) -> Reply:
        """Try until there is a reply that lasts; a command keeps its key."""
        if ask.keyed and ask.key is None:
            ask = ask.under(new_id(time.time_ns() // 1000, os.urandom))
        patience = self.patient()
        while True:
            try:
                with self._lock:
                    reply = self._tried(self.call_of(ask))
            except Lost as lost:
                self._drop()
                if not ask.again:
                    raise HostUnavailable(self.home, str(lost)) from None
                patience.sleep(str(lost))
                continue
            except BaseException:
                # A reply may still come, for a call that nobody waits for any more.
                self._drop()
                raise
            if not (ask.again and is_passing(reply) and patience.left):
                return reply
            patience.sleep("the store is unavailable")

    def _tried(self, call: Call) -> Reply:
        if self._line is None:
            self._line = self.dial()
        self._line.send(call)
        while True:
            found = self._line.receive()
            if isinstance(found, Reply) and found.call_id in (call.call_id, None):
                return found


class Subscription(Generic[T]):
    """An iterator over what comes, on a connection of its own; it goes on by itself after a lost connection.

    Attributes:
        position: Where it stands; hand it in as ``after`` to go on from there.
    """

    def __init__(self, client: Client, followed: following.Following[T]) -> None:
        self._client = client
        self._followed = followed
        self._line: Line | None = None
        self._call_id = ""
        self._ready: list[T] = []
        self._closed = False
        self._ended = False
        self._patience: Patience | None = None
        client.keep(self)

    @property
    def position(self) -> int:
        """The position of what was handed out last."""
        return self._followed.position

    def next(self, timeout: float | None = None) -> T | None:
        """What comes next; ``None`` when time was up or nothing follows.

        Raises:
            HostUnavailable: The host was lost, and did not come back in time.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while not self._ready and not self._closed and not self._ended:
            try:
                left = None if until is None else max(0.0, until - time.monotonic())
                if not self._advance(left):
                    return None
                self._patience = None
            except Lost as lost:
                self._drop()
                if self._closed:
                    return None
                if not self._followed.resumes:
                    raise HostUnavailable(self._client.home, str(lost)) from None
                self._patience = self._patience or self._client.patient()
                self._patience.sleep(str(lost))
        return self._ready.pop(0) if self._ready else None

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        found = self.next()
        if found is None:
            raise StopIteration
        return found

    def close(self) -> None:
        """End it; twice does no harm."""
        self._closed = True
        self._drop()
        self._client.forget(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _advance(self, timeout: float | None) -> bool:
        if self._line is None:
            self._begin()
            return True
        envelope = self._line.receive(timeout)
        if envelope is None:
            return False
        if isinstance(envelope, Event) and envelope.call_id == self._call_id:
            self._take(envelope)
        return True

    def _begin(self) -> None:
        line = self._client.dial()
        self._line = line
        call = self._client.call_of(self._followed.ask())
        self._call_id = call.call_id
        line.send(call)
        reply = line.receive()
        assert isinstance(reply, Reply), "a host answers a call before anything follows it"
        if is_passing(reply):
            raise Lost("the store is unavailable")
        self._ready += self._followed.begun(answered(reply))

    def _take(self, event: Event) -> None:
        if event.kind != "end":
            self._ready += self._followed.take(event)
            return
        failure = following.ending(event)
        if failure is None:
            self._ended = True
            self._drop()
            return
        if following.goes_on(failure):
            raise Lost(failure.code)
        raise error_of(failure)

    def _drop(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
