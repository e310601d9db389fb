"""Follows a store as it changes: the host tells where one lives, else the file is looked at four times a second."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runwright.cli.hosting import host_lives
from runwright.cli.invocation import Invocation
from runwright.cli.showing import Feeder, Told

if TYPE_CHECKING:
    from runwright.engine.client.client import Client
    from runwright.engine.reading.reader import Reader
    from runwright.engine.reading.status import Status
    from runwright.eventstore.envelope import RecordedEvent
    from runwright.eventstore.follow import Subscription
    from runwright.eventstore.reader import LogReader

#: Seconds that a lost host is looked for again before the file is looked at instead.
_PATIENCE = 1.0
#: Events that are read at once.
_BATCH = 500
#: The longest wait for news, and between two looks whether anybody still holds the store (seconds).
_LOOK, _HELD = 0.25, 1.0


@contextmanager
def told(call: Invocation, log: "LogReader", after: int) -> Iterator[Told]:
    """Everything that is committed after a position, as it is committed."""
    from runwright.engine.protocol.errors import HostUnavailable

    news: Told
    try:
        news = _pushed(call, log, after) if host_lives(call) else log.subscribe(after)
    except HostUnavailable:
        news = log.subscribe(after)  # it ended between two looks
    try:
        yield news
    finally:
        news.close()


def _pushed(call: Invocation, log: "LogReader", after: int) -> Told:
    from runwright.engine.client.client import Client

    return _Pushed(log, Client.connect(call.home, client="cli", patience=_PATIENCE), after)


class _Pushed:
    """Events that the host tells of; they are read from the file, as everybody else reads them.

    Args:
        log: The file.
        client: A connection to the host.
        after: The position after which to begin.
    """

    def __init__(self, log: "LogReader", client: "Client", after: int) -> None:
        self._log = log
        self._client = client
        self._position = after
        self._pushes = client.events_subscribe(after=after)
        self._looks: Subscription | None = None
        self._ready: deque[RecordedEvent] = deque()

    def next(self, timeout: float | None = None) -> "RecordedEvent | None":
        """The next event; ``None`` when time is up, or it was closed."""
        from runwright.engine.protocol.errors import HostUnavailable

        while not self._ready:
            if self._looks is not None:
                return self._looks.next(timeout)
            try:
                if self._pushes.next(timeout) is None:
                    return None
            except HostUnavailable:
                self._looks = self._log.subscribe(self._position)
                continue
            self._ready.extend(self._log.read_all(self._position, limit=_BATCH))
        recorded = self._ready.popleft()
        self._position = recorded.position
        return recorded

    def close(self) -> None:
        """End it."""
        self._pushes.close()
        self._client.close()
        if self._looks is not None:
            self._looks.close()


def follow(
    store: "Reader",
    run_ids: Sequence[str],
    news: Told,
    feeder: Feeder | None,
    *,
    rests: "Callable[[Status], bool]",
    timeout: float | None = None,
    look: "Callable[[list[Status]], bool]" = lambda _: True,
) -> "list[Status]":
    """Follow runs, and those that carry them on, until all of them rest.

    Args:
        store: Where they are read.
        run_ids: The runs.
        news: What is committed from now on.
        feeder: The screen.
        rests: Whether a run is followed no further.
        timeout: Seconds after which they are followed no further.
        look: Called several times a second with how they stand; whether to go on.

    Returns:
        How they stand, in order.
    """
    until = None if timeout is None else time.monotonic() + timeout
    found, asked = _standing(store, run_ids), time.monotonic()
    while look(found) and not all(rests(each) for each in found):
        left = _LOOK if until is None else min(_LOOK, until - time.monotonic())
        if left <= 0:
            break
        changed = False
        recorded = news.next(timeout=left)
        while recorded is not None:
            changed = True
            if feeder is not None:
                feeder.take(recorded)
            recorded = news.next(timeout=0)
        if changed or time.monotonic() - asked >= _HELD:
            found, asked = _standing(store, run_ids), time.monotonic()
            if feeder is not None:
                feeder.progress.set_around(
                    held=all(each.driven for each in found), turn_open=any(each.turn_open for each in found)
                )
    if feeder is not None:
        feeder.catch_up()
    return found


def _standing(store: "Reader", run_ids: Sequence[str]) -> "list[Status]":
    return [store.status(store.last_of_chain(each)) for each in run_ids]
