"""Workers: one launch of one generation each (`workers`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.worker import WorkerExited, WorkerLaunched, WorkerReady
from runwright.projections.projection import Index, Key, Projection, begins, changes, run_of
from runwright.projections.replace import replace


@frozen(kw_only=True, weakref_slot=False)
class WorkerRow:
    """One worker epoch, with the identity of its process."""

    worker: str
    run_id: str
    generation: int
    progress: int
    boot: str
    namespace: str
    pid: int
    start: int
    #: ``launched``, ``ready``, ``exited``.
    state: str
    outcome: str | None
    phase: str | None
    code: str | None
    launched_at: int
    exited_at: int | None


class Workers(Projection[WorkerRow]):
    """Launch, readiness and observed end of each worker."""

    name = "workers"
    row = WorkerRow
    key_columns = ("worker",)
    indexes = (
        Index(columns=("run_id",)),
        Index(columns=("state",), where={"state": ("launched", "ready")}),
    )
    hidden = frozenset({"boot", "namespace", "pid", "start"})

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer the worker epoch."""
        worker: str = recorded.event.worker  # type: ignore[attr-defined]  # all three event classes have it
        return (worker,)

    @begins(WorkerLaunched)
    def launched(self, event: WorkerLaunched, recorded: RecordedEvent) -> WorkerRow:
        """A worker was given one generation of the run."""
        return WorkerRow(
            worker=event.worker,
            run_id=run_of(recorded),
            generation=event.generation,
            progress=event.progress,
            boot=event.process.boot,
            namespace=event.process.namespace,
            pid=event.process.pid,
            start=event.process.start,
            state="launched",
            outcome=None,
            phase=None,
            code=None,
            launched_at=recorded.at,
            exited_at=None,
        )

    @changes(WorkerReady)
    def ready(self, row: WorkerRow, event: WorkerReady, recorded: RecordedEvent) -> WorkerRow:
        """The worker verified the sources."""
        if row.state != "launched" or row.run_id != run_of(recorded):
            self.refuse(recorded, f"the worker is {row.state}")
        return replace(row, state="ready")

    @changes(WorkerExited)
    def exited(self, row: WorkerRow, event: WorkerExited, recorded: RecordedEvent) -> WorkerRow:
        """The worker's end was observed."""
        if row.state == "exited" or row.run_id != run_of(recorded):
            self.refuse(recorded, f"the worker is {row.state}")
        return replace(
            row,
            state="exited",
            outcome=event.outcome,
            phase=event.phase,
            code=event.code,
            exited_at=recorded.at,
        )


WORKERS = Workers()
