"""Per node visit: when it was queued, running and waiting, folded from a run's own stream."""

from typing import Final

from attrs import define, field

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.node import NodeFinished, NodeStarted
from runwright.eventstore.events.run import RunParked
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.shown import shown_time

#: Visits that are kept; of a longer run the oldest are counted and dropped.
MOST_VISITS: Final = 1000
#: Spans and attempts that are kept of one visit.
MOST_PARTS: Final = 100

_ENDS: Final = frozenset({"run.completed", "run.failed", "run.timed_out", "run.cancelled", "run.continued"})
#: What the run is doing from each event on, where its open visit does the same.
_PHASES: Final = {
    "run.queued": "queued",
    "run.requeued": "queued",
    "run.eligible": "queued",
    "run.claimed": "queued",
    "run.started": "running",
}


@define
class _Span:
    phase: str
    begun: int
    ended: int | None = None

    def document(self) -> JsonObject:
        return {"phase": self.phase, "from": shown_time(self.begun), "to": shown_time(self.ended)}


@define
class _Attempt:
    number: int
    begun: int
    ended: int | None = None
    outcome: str | None = None
    code: str | None = None

    def document(self) -> JsonObject:
        return {
            "attempt": self.number,
            "started_at": shown_time(self.begun),
            "finished_at": shown_time(self.ended),
            "outcome": self.outcome,
            "code": self.code,
        }


@define
class _Visit:
    path: str | None
    number: int
    kind: str | None
    attempts: list[_Attempt] = field(factory=list)
    spans: list[_Span] = field(factory=list)

    def turn(self, phase: str, at: int) -> None:
        """Go over to another phase."""
        if self.spans and self.spans[-1].ended is None:
            if self.spans[-1].phase == phase:
                return
            self.spans[-1].ended = at
        self.spans.append(_Span(phase, at))
        del self.spans[:-MOST_PARTS]

    def end(self, at: int) -> None:
        """Close what is open."""
        if self.spans and self.spans[-1].ended is None:
            self.spans[-1].ended = at

    def document(self) -> JsonObject:
        return {
            "node": self.path,
            "visit": self.number,
            "kind": self.kind,
            "attempts": [each.document() for each in self.attempts],
            "spans": [each.document() for each in self.spans],
        }


class Timeline:
    """The visits of one run in the order in which they began, bounded however long the run.

    What the run did between two visits (before the first node, while it waited for its turn) stands in the
    visit that follows, or, as long as there is none, in one without a node.
    """

    def __init__(self) -> None:
        self._visits: list[_Visit] = []
        self._between = _Visit(None, 0, None)
        self._open: _Visit | None = None
        self._phase = "queued"
        self._dropped = 0

    def apply(self, recorded: RecordedEvent) -> None:
        """Take the next event of the run's stream."""
        event = recorded.event
        if isinstance(event, NodeStarted):
            self._started(event, recorded.at)
        elif isinstance(event, NodeFinished):
            self._finished(event, recorded.at)
        elif isinstance(event, RunParked):
            self._turn("waiting" if event.reason in ("waiting", "paused") else "queued", recorded.at)
        elif recorded.type in _PHASES:
            self._turn(_PHASES[recorded.type], recorded.at)
        elif recorded.type in _ENDS:
            (self._open or self._between).end(recorded.at)
            self._phase = "ended"

    def document(self) -> JsonObject:
        """Answer the timeline as JSON: the visits, and how many older ones are left out."""
        visits: list[Json] = [each.document() for each in self._visits]
        if self._between.spans:
            visits.append(self._between.document())
        return {"visits": visits, "dropped": self._dropped}

    def _turn(self, phase: str, at: int) -> None:
        self._phase = phase
        (self._open or self._between).turn(phase, at)

    def _started(self, event: NodeStarted, at: int) -> None:
        last = self._visits[-1] if self._visits else None
        if event.attempt > 1 and last is not None and (last.path, last.number) == (event.path, event.visit):
            visit = last
        else:
            visit = _Visit(event.path, event.visit, event.kind, spans=self._between.spans)
            visit.end(at)
            self._visits.append(visit)
            self._dropped += len(self._visits) - MOST_VISITS if len(self._visits) > MOST_VISITS else 0
            del self._visits[:-MOST_VISITS]
        self._between = _Visit(None, 0, None)
        self._open = visit
        visit.attempts.append(_Attempt(event.attempt, at))
        del visit.attempts[:-MOST_PARTS]
        self._turn("running", at)

    def _finished(self, event: NodeFinished, at: int) -> None:
        if self._open is None:
            return
        attempt = self._open.attempts[-1]
        attempt.ended, attempt.outcome, attempt.code = at, event.outcome, event.code
        self._open.end(at)
        self._open = None
        if self._phase not in ("running", "ended"):
            self._between.turn(self._phase, at)
