"""The walk over a part of a log, where each event brings the hash it has to follow from."""

from attrs import define, field

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.transfer.jsonl import ExportHead
from runwright.eventstore.verdict import HEAD_LINE, Fault
from runwright.eventstore.walk import hash_as


@define
class PartWalk:
    """Checks events that need not follow each other.

    A part is a range of positions or some whole streams. Which of both, the lines themselves tell: a range
    has no gap between positions, and a whole stream has none between versions, which begin at 1. A file
    that is neither has lost an event.
    """

    opening: ExportHead
    _last: RecordedEvent | None = field(default=None, init=False)
    _versions: dict[str, int] = field(factory=dict, init=False)
    _range_gap: Fault | None = field(default=None, init=False)
    _stream_gap: Fault | None = field(default=None, init=False)

    @property
    def next_guess(self) -> int:
        """The position to name for a line that cannot be read."""
        return self.opening.first if self._last is None else self._last.position + 1

    def step(self, event: RecordedEvent, previous: bytes) -> Fault | None:
        """Check the next event of the part."""
        fault = self._place(event)
        if fault is None and hash_as(event, event.position, previous) != event.hash:
            detail = f"Event {event.position} ({event.type}) does not follow from the hash beside it."
            fault = Fault("event_changed", event.position, detail)
        if fault is None and self._neighbour(event) not in (None, previous):
            detail = f"Event {event.position} does not follow from the event before it."
            fault = Fault("event_changed", event.position, detail)
        if fault is not None:
            return fault
        self._gaps(event)
        self._last = event
        return None

    def end(self) -> Fault | None:
        """Check after the last line that the part is whole."""
        last = 0 if self._last is None else self._last.position
        if last < self.opening.last:
            detail = f"The file ends at position {last}, and its head line says {self.opening.last}."
            return Fault("tail_missing", last + 1 if last else self.opening.first, detail)
        if self._range_gap is None or self._stream_gap is None:
            return None
        return max(self._range_gap, self._stream_gap, key=lambda fault: fault.position or 0)

    def _place(self, event: RecordedEvent) -> Fault | None:
        if event.position > self.opening.last:
            detail = f"The head line says that event {self.opening.last} is the last, and another follows."
            return Fault("head_changed", HEAD_LINE, detail)
        if self._last is not None and event.position <= self._last.position:
            detail = f"Event {event.position} stands after event {self._last.position}."
            return Fault("events_reordered", event.position, detail)
        if self._last is None and event.position > self.opening.first:
            detail = f"Event {self.opening.first} is missing: event {event.position} stands in its place."
            return Fault("event_missing", self.opening.first, detail)
        if self._last is None and event.position < self.opening.first:
            detail = f"The head line says that event {self.opening.first} is the first, and an earlier one follows."
            return Fault("head_changed", HEAD_LINE, detail)
        return None

    def _neighbour(self, event: RecordedEvent) -> bytes | None:
        """Answer the hash that has to stand before an event, where the file itself knows it."""
        if self._last is None:
            return self.opening.previous
        return self._last.hash if event.position == self._last.position + 1 else None

    def _gaps(self, event: RecordedEvent) -> None:
        if self._range_gap is None and self._last is not None and event.position != self._last.position + 1:
            missing = self._last.position + 1
            self._range_gap = Fault("event_missing", missing, f"Event {missing} is missing.")
        version = self._versions.get(event.stream, 0) + 1
        self._versions[event.stream] = event.version
        if self._stream_gap is None and event.version != version:
            detail = f"Version {version} of {event.stream} is missing before event {event.position}."
            self._stream_gap = Fault("event_missing", event.position, detail)
