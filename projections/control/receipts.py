"""Receipts of accepted commands (`receipts`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.command import CommandSettled
from runwright.projections.projection import Index, Key, Projection, begins


@frozen(kw_only=True, weakref_slot=False)
class ReceiptRow:
    """What a client's key was used for; ``first`` is the position of the command's first event."""

    client: str
    key: str
    operation: str
    fingerprint: str
    outcome: str
    run_id: str | None
    first: int | None


class Receipts(Projection[ReceiptRow]):
    """One receipt per client and key, for ever."""

    name = "receipts"
    row = ReceiptRow
    key_columns = ("client", "key")
    indexes = (Index(columns=("run_id",)),)

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer client and key, which the stream names (neither holds a slash)."""
        _, client, key = recorded.stream.split("/")
        return client, key

    @begins(CommandSettled)
    def settled(self, event: CommandSettled, recorded: RecordedEvent) -> ReceiptRow:
        """The command was accepted."""
        _, client, key = recorded.stream.split("/")
        return ReceiptRow(
            client=client,
            key=key,
            operation=event.operation,
            fingerprint=event.fingerprint,
            outcome=event.outcome,
            run_id=event.run,
            first=event.first,
        )


RECEIPTS = Receipts()
