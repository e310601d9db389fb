"""What surrounds an event: its place in the log, who caused it, and what proves it."""

import enum
from typing import Final, TypeAlias

from attrs import define, field, frozen

from runwright.eventstore.codec import decode_event
from runwright.eventstore.events.event import Event


class Expect(enum.Enum):
    """What a caller may expect of a stream besides an exact version."""

    NEW = "new"
    ANY = "any"


#: The stream has no events yet.
NEW: Final = Expect.NEW
#: The stream may be at any version.
ANY: Final = Expect.ANY

Expected: TypeAlias = int | Expect


@define(eq=False)
class RecordedEvent:
    """An event as the log holds it, its fields in the order of the columns.

    Treat it as immutable: it is not frozen only because a frozen class takes four times as long to make,
    and a replay makes one per row.

    Attributes:
        position: Its place in the log, from 1, without gaps.
        stream: The stream it stands in.
        version: Its place in the stream, from 1.
        type: The stored type name.
        at: UTC microseconds of the writer's wall clock; never used for order.
        actor: Who caused it.
        generation: The claim generation it was written under.
        command: The key of the command that caused it.
        data: The stored text of the control facts.
        digest: Commits to the body; ``None`` when there never was one.
        hash: Its hash in the chain.
        salt: Goes into the digest; erased with the body.
        body: The stored text of the private values.
        with_body: Whether body and salt were read at all.
    """

    position: int
    stream: str
    version: int
    type: str
    at: int
    actor: str
    generation: int | None
    command: str | None
    data: str
    digest: bytes | None
    hash: bytes
    salt: bytes | None
    body: str | None
    with_body: bool = True
    _event: Event | None = field(default=None, repr=False, alias="event")

    def __repr__(self) -> str:
        return f"<{self.type} at {self.position}: {self.stream} {self.version}>"

    @property
    def event(self) -> Event:
        """The event itself, decoded once.

        Raises:
            EventUnreadable: Its stored form does not fit its type; `UnknownEvent` where there is no such type.
        """
        if self._event is None:
            self._event = decode_event(self.type, self.data, self.body, self.position)
        return self._event

    @property
    def erased(self) -> bool:
        """Whether it had private values that are gone."""
        return self.with_body and self.digest is not None and self.body is None


@frozen
class Head:
    """The last event of a log and its hash; position 0 for a log without events."""

    position: int
    hash: bytes


@frozen
class Appended:
    """Where an append put its events: first and last position, and the stream's version after it."""

    first: int
    last: int
    version: int
