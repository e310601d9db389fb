"""Content that has to reach a session (`messages`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.message import (
    MessageCancelled,
    MessageDelivered,
    MessageQueued,
    MessageSent,
)
from runwright.projections.projection import Index, Key, Projection, begins, changes, run_of
from runwright.projections.replace import replace


@frozen(kw_only=True, weakref_slot=False)
class MessageRow:
    """One message.

    ``content`` is the position of the event that holds it, ``epoch`` the coordinator it was last handed to or seen by,
    ``sends`` how often it was handed to that one.
    """

    message: str
    run_id: str
    session: str
    order: int
    kind: str
    source: str
    starts_turn: bool
    reason: str
    #: ``pending``, ``sent``, ``cancelled``.
    state: str
    deliveries: int
    sends: int
    epoch: str | None
    entry: str | None
    content: int
    created_at: int
    updated_at: int


class Messages(Projection[MessageRow]):
    """``pending`` → ``sent`` or ``cancelled``; evidence makes a cancelled one ``sent``; ``sent`` is final."""

    name = "messages"
    row = MessageRow
    key_columns = ("message",)
    indexes = (
        # What a run has not told yet, and which of its steps were taken back: both among all that it ever told.
        Index(columns=("run_id", "state", "kind", "epoch")),
        Index(columns=("session", "kind", "order"), where={"state": ("pending",)}),
        Index(columns=("source",), where={"kind": ("step",), "state": ("pending",)}, unique=True),
    )

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer the message."""
        message: str = recorded.event.message  # type: ignore[attr-defined]  # all four event classes have it
        return (message,)

    @begins(MessageQueued)
    def queued(self, event: MessageQueued, recorded: RecordedEvent) -> MessageRow:
        """The message waits."""
        return MessageRow(
            message=event.message,
            run_id=run_of(recorded),
            session=event.session,
            order=event.order,
            kind=event.kind,
            source=event.source,
            starts_turn=event.starts_turn,
            reason=event.reason,
            state="pending",
            deliveries=0,
            sends=0,
            epoch=None,
            entry=None,
            content=recorded.position,
            created_at=recorded.at,
            updated_at=recorded.at,
        )

    @changes(MessageDelivered)
    def delivered(self, row: MessageRow, event: MessageDelivered, recorded: RecordedEvent) -> MessageRow:
        """The message is about to be handed out."""
        if row.state != "pending":
            self.refuse(recorded, f"the message is {row.state}")
        if event.number != row.deliveries + 1 or event.session != row.session:
            self.refuse(recorded, f"the next is delivery {row.deliveries + 1} to its own session")
        sends = row.sends + 1 if row.epoch == event.epoch else 1
        return replace(row, deliveries=event.number, sends=sends, epoch=event.epoch, updated_at=recorded.at)

    @changes(MessageSent)
    def sent(self, row: MessageRow, event: MessageSent, recorded: RecordedEvent) -> MessageRow:
        """The session shows the message, whatever was believed before."""
        if row.state == "sent":
            self.refuse(recorded, "the message is sent")
        return replace(row, state="sent", epoch=event.epoch, entry=event.entry, updated_at=recorded.at)

    @changes(MessageCancelled)
    def cancelled(self, row: MessageRow, event: MessageCancelled, recorded: RecordedEvent) -> MessageRow:
        """The message is not to be sent any more."""
        if row.state != "pending":
            self.refuse(recorded, f"the message is {row.state}")
        return replace(row, state="cancelled", updated_at=recorded.at)


MESSAGES = Messages()
