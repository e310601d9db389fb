"""Processes that workers started and that must be found again (`processes`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.worker import ProcessEnded, ProcessRegistered
from runwright.projections.projection import Index, Key, Projection, begins, changes, run_of


@frozen(kw_only=True, weakref_slot=False)
class ProcessRow:
    """One registered process; a row exists only while it may live."""

    boot: str
    namespace: str
    pid: int
    start: int
    run_id: str
    worker: str


class Processes(Projection[ProcessRow]):
    """Registered processes by their exact identity."""

    name = "processes"
    row = ProcessRow
    key_columns = ("boot", "namespace", "pid", "start")
    indexes = (Index(columns=("worker",)),)
    hidden = frozenset({"boot", "namespace", "pid", "start"})

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer the process identity."""
        event = recorded.event
        assert isinstance(event, ProcessRegistered | ProcessEnded)
        process = event.process
        return process.boot, process.namespace, process.pid, process.start

    @begins(ProcessRegistered)
    def registered(self, event: ProcessRegistered, recorded: RecordedEvent) -> ProcessRow:
        """A worker started the process."""
        return ProcessRow(
            boot=event.process.boot,
            namespace=event.process.namespace,
            pid=event.process.pid,
            start=event.process.start,
            run_id=run_of(recorded),
            worker=event.worker,
        )

    @changes(ProcessEnded)
    def ended(self, row: ProcessRow, event: ProcessEnded, recorded: RecordedEvent) -> None:
        """The process is gone."""
        if row.worker != event.worker:
            self.refuse(recorded, "another worker started that process")


PROCESSES = Processes()
