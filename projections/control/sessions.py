"""Conversations and their coordinators (`sessions`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.message import MessageDelivered, MessageQueued
from runwright.eventstore.events.request import RequestAccepted
from runwright.eventstore.events.session import SessionAttached, SessionDetached, SessionPersonSpoke
from runwright.projections.projection import Key, Projection, changes, follows
from runwright.projections.replace import replace


@frozen(kw_only=True, weakref_slot=False)
class SessionRow:
    """One conversation.

    ``epoch`` and ``agent`` are those of the last coordinator, ``wake_ups`` counts the deliveries that started a turn
    since a person spoke or an answer was accepted, ``messages`` is the order of the last message.
    """

    session: str
    epoch: str | None
    agent: str | None
    attached: bool
    wake_ups: int
    messages: int
    since: int


class Sessions(Projection[SessionRow]):
    """Coordinators, one epoch after another, and the counts that bound and order what reaches them.

    Decided here: a delivery that starts a turn is a wake-up; a person who speaks sets the count back, and so does an
    accepted answer. A session may be known by its messages before anything has attached.
    """

    name = "sessions"
    row = SessionRow
    key_columns = ("session",)

    def key(self, recorded: RecordedEvent) -> Key | None:
        """Answer the session."""
        event = recorded.event
        if isinstance(event, MessageDelivered | MessageQueued):
            return (event.session,)
        if isinstance(event, RequestAccepted):
            return None if event.session is None else (event.session,)
        return (recorded.stream.removeprefix("session/"),)

    @follows(SessionAttached)
    def attached(self, row: SessionRow | None, event: SessionAttached, recorded: RecordedEvent) -> SessionRow:
        """A coordinator of a new epoch fences the one before; one that was missed comes back in its own."""
        if row is not None and row.attached and row.epoch == event.epoch:
            self.refuse(recorded, "each attach has an epoch of its own")
        return SessionRow(
            session=recorded.stream.removeprefix("session/"),
            epoch=event.epoch,
            agent=event.agent,
            attached=True,
            wake_ups=0 if row is None else row.wake_ups,
            messages=0 if row is None else row.messages,
            since=recorded.at,
        )

    @changes(SessionDetached)
    def detached(self, row: SessionRow, event: SessionDetached, recorded: RecordedEvent) -> SessionRow:
        """The coordinator left."""
        self._present(row, event.epoch, recorded)
        return replace(row, attached=False, since=recorded.at)

    @follows(MessageQueued)
    def queued(self, row: SessionRow | None, event: MessageQueued, recorded: RecordedEvent) -> SessionRow:
        """A message is to reach the session."""
        if row is not None:
            return replace(row, messages=max(row.messages, event.order))
        return SessionRow(
            session=event.session,
            epoch=None,
            agent=None,
            attached=False,
            wake_ups=0,
            messages=event.order,
            since=recorded.at,
        )

    @follows(RequestAccepted)
    def answered(self, row: SessionRow | None, event: RequestAccepted, recorded: RecordedEvent) -> SessionRow | None:
        """What the session was woken for was worth it."""
        return row if row is None or row.wake_ups == 0 else replace(row, wake_ups=0)

    @changes(SessionPersonSpoke)
    def person_spoke(self, row: SessionRow, event: SessionPersonSpoke, recorded: RecordedEvent) -> SessionRow:
        """A person took a turn."""
        self._present(row, event.epoch, recorded)
        return replace(row, wake_ups=0)

    @changes(MessageDelivered)
    def delivered(self, row: SessionRow, event: MessageDelivered, recorded: RecordedEvent) -> SessionRow:
        """A message was handed to the present coordinator."""
        self._present(row, event.epoch, recorded)
        return replace(row, wake_ups=row.wake_ups + 1) if event.starts_turn else row

    def _present(self, row: SessionRow, epoch: str, recorded: RecordedEvent) -> None:
        if not row.attached or row.epoch != epoch:
            self.refuse(recorded, "that coordinator is not the present one")


SESSIONS = Sessions()
