"""Shows runs on stderr while they go on: events come in from whoever tells of them, and go on the screen."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from runwright.cli.invocation import Invocation
from runwright.cli.rendering.progress import Progress
from runwright.eventstore.values import JsonObject

if TYPE_CHECKING:
    from runwright.cli.rendering.pictures import RunPicture
    from runwright.engine.graph.definition import Definition
    from runwright.engine.reading.reader import Reader
    from runwright.eventstore.envelope import RecordedEvent

#: What of a run's past says what is under way.
_RECALLED = frozenset(
    {"node.started", "node.finished", "timer.set", "timer.fired", "timer.cleared", "run.parked", "run.started"}
)


class Told(Protocol):
    """Events as they are committed: a subscription."""

    def next(self, timeout: float | None = None) -> "RecordedEvent | None":
        """The next event; ``None`` when time is up or it was closed."""

    def close(self) -> None:
        """End it; a thread that waits in it returns."""


@contextmanager
def screen(call: Invocation, store: "Reader", run_ids: Sequence[str], after: int) -> "Iterator[Feeder | None]":
    """A screen for some runs, that shows what it is fed; none with ``-q`` or for machines.

    Args:
        call: The invocation.
        store: Where the past of the runs is read.
        run_ids: The runs.
        after: The position up to which nothing is news.
    """
    if call.out.quiet or call.out.for_machines:
        yield None
        return
    feeder = Feeder(call, store, run_ids)
    feeder.recall(after)
    with feeder.progress:
        yield feeder


@contextmanager
def held(feeder: "Feeder | None") -> Iterator[None]:
    """Hold a screen still while somebody is asked something, once all that came before the question was told."""
    if feeder is None:
        yield
        return
    feeder.catch_up()
    feeder.progress.hold(True)
    try:
        yield
    finally:
        feeder.progress.hold(False)


@contextmanager
def fed(feeder: "Feeder", told: Told) -> Iterator[None]:
    """Feed a screen in a thread, for as long as this lasts; at its end everything that was committed has been told.

    Args:
        feeder: The screen's.
        told: The events; closed at the end.
    """
    thread = threading.Thread(target=feeder.feed, args=(told,), name="runwright-progress", daemon=True)
    thread.start()
    try:
        yield
        feeder.catch_up()
    finally:
        told.close()
        thread.join(timeout=2)


class Feeder:
    """Hands the events of some runs, and of those that carry them on, to the screen.

    Attributes:
        progress: The screen.
    """

    def __init__(self, call: Invocation, store: "Reader", run_ids: Sequence[str]) -> None:
        self._store = store
        self._specs = call.specs
        self._definitions: dict[str, Definition | None] = {}
        self._streams = {f"run/{each}": 0 for each in run_ids}
        #: One thread hands on what comes, another one what that has not come to yet.
        self._lock = threading.RLock()
        self._drawn = call.out.at_terminal and len(run_ids) == 1
        self.progress = Progress(
            call.out.console(stderr=True),
            live=call.out.at_terminal,
            now=lambda: time.time_ns() // 1000,
            picture=self._picture(run_ids[0]) if self._drawn else None,
            several=len(run_ids) > 1,
            delay=self._delay,
        )

    def recall(self, upto: int) -> None:
        """Take in what happened before anybody looked."""
        types = None if self._drawn else _RECALLED
        streams = set(self._streams)
        for recorded in self._store.log.read_all(0, types=types, streams=streams, upto=upto) if upto else ():
            self._streams[recorded.stream] = recorded.version
            self.progress.recall(recorded)
        self.progress.position = upto

    def catch_up(self) -> None:
        """Take what was committed and not told yet: a run is seen to have ended before its last events come."""
        with self._lock:
            while missed := list(self._store.log.read_all(self.progress.position, streams=set(self._streams))):
                for recorded in missed:
                    self.take(recorded)
                    if recorded.type == "run.continued":
                        break  # from here on the events of another run belong here, too

    def feed(self, told: Told) -> None:
        """Hand on what comes, until it is closed."""
        while (recorded := told.next()) is not None:
            self.take(recorded)

    def take(self, recorded: "RecordedEvent") -> None:
        """Hand on one event, where it is one of these runs' and was not seen yet."""
        with self._lock:
            if recorded.version > self._streams.get(recorded.stream, recorded.version):
                self._streams[recorded.stream] = recorded.version
                self.progress.feed(recorded)
                if recorded.type == "run.continued":
                    self._carry_on(recorded.stream.partition("/")[2])
            self.progress.position = max(self.progress.position, recorded.position)

    def _carry_on(self, run_id: str) -> None:
        """Go on with the run that carries this one on."""
        after = self._store.status(run_id).continued_by
        if after is None:
            return
        picture = self._picture(after) if self._drawn else None
        if picture is not None:
            picture.follow(self._store.log.read(f"run/{after}"))
            self.progress.show(picture)
        self._streams[f"run/{after}"] = 0 if picture is None else picture.revision

    def _picture(self, run_id: str) -> "RunPicture":
        from runwright.cli.rendering.pictures import RunPicture

        return RunPicture(run_id, self._definition(run_id), self._specs)

    def _definition(self, run_id: str) -> "Definition | None":
        from runwright.cli.definitions import saved_definition

        if run_id not in self._definitions:
            self._definitions[run_id] = saved_definition(self._store, run_id)
        return self._definitions[run_id]

    def _delay(self, run_id: str, finished: JsonObject) -> int | None:
        from runwright.cli.rendering.under_way import declared_delay

        definition = self._definition(run_id)
        return None if definition is None else declared_delay(definition)(finished)
