"""The processes that held the store (`hosts`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.host import HostStarted, HostStopped
from runwright.projections.projection import Key, Projection, begins, changes
from runwright.projections.replace import replace


@frozen(kw_only=True, weakref_slot=False)
class HostRow:
    """One epoch of the one process that holds the store."""

    epoch: str
    version: str
    boot: str
    namespace: str
    pid: int
    start: int
    started_at: int
    stopped_at: int | None


class Hosts(Projection[HostRow]):
    """Epochs, in the order of their IDs; one without an end before the last was not stopped in good order."""

    name = "hosts"
    row = HostRow
    key_columns = ("epoch",)
    hidden = frozenset({"boot", "namespace", "pid", "start"})

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer the epoch."""
        epoch: str = recorded.event.epoch  # type: ignore[attr-defined]  # both event classes have it
        return (epoch,)

    @begins(HostStarted)
    def host_started(self, event: HostStarted, recorded: RecordedEvent) -> HostRow:
        """A process took the store."""
        return HostRow(
            epoch=event.epoch,
            version=event.version,
            boot=event.process.boot,
            namespace=event.process.namespace,
            pid=event.process.pid,
            start=event.process.start,
            started_at=recorded.at,
            stopped_at=None,
        )

    @changes(HostStopped)
    def host_stopped(self, row: HostRow, event: HostStopped, recorded: RecordedEvent) -> HostRow:
        """It gave the store back in good order."""
        if row.stopped_at is not None:
            self.refuse(recorded, "that host has stopped already")
        return replace(row, stopped_at=recorded.at)


HOSTS = Hosts()
