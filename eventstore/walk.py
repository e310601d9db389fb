"""The walk along the chain: does each event follow from the one before, and if not, why not."""

from collections.abc import Iterable

from attrs import define, field

from runwright.eventstore.chain import SALT_BYTES, body_digest, event_hash
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.events.log import LogCreated
from runwright.eventstore.transfer.text import read_text
from runwright.eventstore.verdict import Fault


def hash_as(event: RecordedEvent, position: int, previous: bytes) -> bytes:
    """Compute the hash that an event would have at a position, after a given hash."""
    return event_hash(
        previous,
        position,
        event.stream,
        event.version,
        event.type,
        event.at,
        event.actor,
        event.generation,
        event.command,
        event.data,
        event.digest,
    )


def body_fault(event: RecordedEvent) -> Fault | None:
    """Compare an event's private values with the digest that the chain vouches for."""
    if event.body is None and event.salt is None:
        return None
    if event.body is None or event.salt is None or event.digest is None:
        what = "stand without the salt or the digest" if event.body is not None else "are gone and their salt is not"
        return Fault("body_changed", event.position, f"The private values of event {event.position} {what}.")
    # The length counts: a longer salt could take over the beginning of the body unseen.
    if len(event.salt) == SALT_BYTES and body_digest(event.salt, event.body) == event.digest:
        return None
    return Fault(
        "body_changed",
        event.position,
        f"The private values of event {event.position} ({event.type}) are not the ones that were recorded.",
    )


@define
class ChainWalk:
    """Follows a log from a known hash on, one event at a time.

    Attributes:
        hash: The hash of the last event that held, at first the one before the first event.
        expected: The position that has to come next.
    """

    hash: bytes
    expected: int = 1
    steps: int = field(default=0, init=False)

    def fits(self, event: RecordedEvent) -> bool:
        """Say whether an event is the next one; if it is, the walk stands on it."""
        if event.position != self.expected or not self._belongs(event):
            return False
        self.hash = event.hash
        self.expected += 1
        self.steps += 1
        return True

    @property
    def head(self) -> Head | None:
        """The last event that held."""
        return Head(position=self.expected - 1, hash=self.hash) if self.steps else None

    def diagnose(self, event: RecordedEvent, rest: Iterable[RecordedEvent]) -> Fault:
        """Tell what is wrong where an event does not fit.

        Args:
            event: The event that stands at the next place.
            rest: The events after it; read to the end, because only they can tell a moved event from a
                missing one.
        """
        place = self.expected
        if self._belongs(event):
            return Fault("event_changed", place, f"Event {place} was changed: it is numbered {event.position} now.")
        numbered = False
        for other in rest:
            if self._belongs(other):
                detail = f"The event that belongs at position {place} stands later in the log."
                return Fault("events_reordered", place, detail)
            numbered = numbered or other.position == place
        if event.position == place:
            return Fault("event_changed", place, f"Event {place} ({event.type}) does not follow from the chain.")
        if numbered:
            return Fault("events_reordered", place, f"Event {place} stands later in the log, and was changed.")
        if event.position > place:
            detail = f"Event {place} is missing: event {event.position} stands in its place."
            return Fault("event_missing", place, detail)
        return Fault("events_reordered", place, f"Event {event.position} stands a second time, at position {place}.")

    def _belongs(self, event: RecordedEvent) -> bool:
        return hash_as(event, self.expected, self.hash) == event.hash


def tail_fault(last: Head | None, kept: Head, whose: str) -> Fault | None:
    """Compare where a log ends with a head that it has to reach.

    Args:
        last: The last event that was found.
        kept: The head that somebody or something kept.
        whose: What kept it, for the sentence: ``the head row``.
    """
    found = 0 if last is None else last.position
    if found < kept.position:
        detail = f"The log ends at position {found}; {whose} stands at {kept.position}: the tail is missing."
        return Fault("tail_missing", found + 1, detail)
    return None


def log_begun_by(event: RecordedEvent | None) -> str | None:
    """Answer the ID of the log that an event begins; ``None`` where it is none that a log begins with."""
    if event is None or event.type != LogCreated.type:
        return None
    try:
        data = read_text(event.data)
    except ValueError:
        return None
    found = data.get("log_id") if isinstance(data, dict) else None
    return found if isinstance(found, str) else None
