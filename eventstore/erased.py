"""Which missing private values an erasure on record explains, worked out event by event."""

from attrs import define, field

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.log import LogRedacted
from runwright.eventstore.events.run import RunInputErased, RunQueued
from runwright.eventstore.transfer.text import read_text

_RUN = "run/"


@define
class _Gone:
    """The first and the last event of one stream whose private values are gone."""

    first: int
    last: int


@define
class ErasureLedger:
    """Compares the private values that are gone with the erasures that the log records.

    A missing body is legitimate where its stream has a ``run.input_erased``, or where a later
    ``log.redacted`` names the root of its run (page 12, "Erasure"). Memory grows with the runs that lost
    something, not with the events.
    """

    _gone: dict[str, _Gone] = field(factory=dict, init=False)
    _roots: dict[str, str] = field(factory=dict, init=False)
    _inputs: set[str] = field(factory=set, init=False)
    _redacted: dict[str, int] = field(factory=dict, init=False)
    values: bool = field(default=False, init=False)

    def saw(self, event: RecordedEvent) -> None:
        """Take notice of the next event of the log."""
        if event.body is not None:
            self.values = True
        elif event.digest is not None:
            gone = self._gone.setdefault(event.stream, _Gone(event.position, event.position))
            gone.last = event.position
        if event.type == RunQueued.type:
            root = _text(event, "root")
            if root is not None:
                self._roots[event.stream] = root
        else:
            self.recorded(event)

    def recorded(self, event: RecordedEvent) -> None:
        """Take notice of an erasure alone, wherever in the log it stands."""
        if event.type == RunInputErased.type:
            self._inputs.add(event.stream)
        elif event.type == LogRedacted.type:
            root = _text(event, "run")
            if root is not None:
                self._redacted[root] = max(event.position, self._redacted.get(root, 0))

    def unexplained(self) -> int | None:
        """Name the first event whose private values are gone without a recorded erasure."""
        return min((gone.first for stream, gone in self._gone.items() if not self._may(stream, gone)), default=None)

    def _may(self, stream: str, gone: _Gone) -> bool:
        if not stream.startswith(_RUN):
            return False
        if stream in self._inputs:
            return True
        root = self._roots.get(stream, stream.removeprefix(_RUN))
        return gone.last < self._redacted.get(root, 0)


def _text(event: RecordedEvent, name: str) -> str | None:
    """Read one field of an event's data without trusting that the event is well formed."""
    try:
        data = read_text(event.data)
    except ValueError:
        return None
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, str) else None
