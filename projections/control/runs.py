"""How far each run is (`runs`)."""

import json

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.effect import EffectApplied, EffectRejected, EffectReserved, EffectResolved
from runwright.eventstore.events.node import MountEntered, MountExited, NodeFinished, NodeStarted
from runwright.eventstore.events.request import RequestAccepted, RequestOpened
from runwright.eventstore.events.run import (
    RunCancelled,
    RunCompleted,
    RunContinued,
    RunEligible,
    RunFailed,
    RunInput,
    RunInputErased,
    RunParked,
    RunPaused,
    RunPauseRequested,
    RunQueued,
    RunRecovered,
    RunRequeued,
    RunResumed,
    RunSourceAccepted,
    RunStarted,
    RunTimedOut,
)
from runwright.eventstore.events.worker import WorkerLaunched
from runwright.projections.projection import Index, Projection, begins, changes, run_of
from runwright.projections.replace import replace

LIVE = ("queued", "running", "waiting")


@frozen(kw_only=True, weakref_slot=False)
class RunRow:
    """One run.

    Times are UTC microseconds; ``input`` and ``output`` are positions of the events that hold the values.
    ``agents`` and ``pass_env`` are canonical JSON texts.
    """

    run_id: str
    workflow: str
    reference: str
    sources: str | None
    definition: str
    session: str | None
    project: str | None
    cwd: str | None
    interpreter: str | None
    agents: str
    pass_env: str
    kind: str
    cause: str | None
    depth: int
    parent: str | None
    root: str
    restart_number: int
    parent_fingerprint: str | None
    request: str | None
    at: str | None
    #: ``queued``, ``running``, ``waiting``, ``completed``, ``continued``, ``failed``, ``timed_out``, ``cancelled``.
    status: str
    #: The node of the last `NodeStarted`, with its visit and attempt.
    node: str | None
    visit: int
    attempt: int
    step_base: int
    steps: int
    max_steps: int
    timeout: int | None
    paused: bool
    pause_requested: bool
    progress: int
    #: Workers launched since ``progress`` last changed.
    launches: int
    created_at: int
    started_at: int | None
    finished_at: int | None
    code: str | None
    message: str | None
    continued_by: str | None
    input: int | None
    input_erased: bool
    output: int | None


class Runs(Projection[RunRow]):
    """Status, place and progress of each run.

    Decided here:

    * The row of an ended run does not change any more, whatever its stream still takes in: the ends of its
      parts that stand after it in the same append, and late evidence about an effect. Only its input may
      still be erased.
    * ``started_at`` is the first `RunStarted`; a run without one is "never started".
    * `RunEligible` turns ``waiting`` back to ``running``, and is refused while the run is paused.
    * An explicit resume counts as progress through `RunResumed`, whatever else comes with it.
    * An end clears ``paused`` and ``pause_requested``; a cancelled run has no code.
    """

    name = "runs"
    row = RunRow
    key_columns = ("run_id",)
    indexes = (
        Index(columns=("root",)),
        Index(columns=("session",)),
        Index(columns=("project",)),
        Index(columns=("status",), where={"status": LIVE}),
        Index(columns=("request",), where={"kind": ("continue",)}, unique=True, lasting=True),
    )

    @begins(RunQueued)
    def queued(self, event: RunQueued, recorded: RecordedEvent) -> RunRow:
        """A run begins, with everything that a later launch needs."""
        run_id = run_of(recorded)
        if event.kind == "start" and event.root != run_id:
            self.refuse(recorded, "a started run is its own root")
        if event.kind != "start" and event.parent is None:
            self.refuse(recorded, "a continuation or restart has a parent")
        return RunRow(
            run_id=run_id,
            workflow=event.workflow,
            reference=event.reference,
            sources=event.sources,
            definition=event.definition,
            session=event.session,
            project=event.project,
            cwd=event.cwd,
            interpreter=event.interpreter,
            agents=_canonical([{"kind": each.kind, "name": each.name} for each in event.agents]),
            pass_env=_canonical(list(event.pass_env)),
            kind=event.kind,
            cause=event.cause,
            depth=event.depth,
            parent=event.parent,
            root=event.root,
            restart_number=event.restart_number,
            parent_fingerprint=event.parent_fingerprint,
            request=event.request,
            at=event.at,
            status="queued",
            node=None,
            visit=0,
            attempt=0,
            step_base=event.step_base,
            steps=0,
            max_steps=event.max_steps,
            timeout=event.timeout,
            paused=False,
            pause_requested=False,
            progress=0,
            launches=0,
            created_at=recorded.at,
            started_at=None,
            finished_at=None,
            code=None,
            message=None,
            continued_by=None,
            input=event.input,
            input_erased=False,
            output=None,
        )

    @changes(RunInput)
    def input_given(self, row: RunRow, event: RunInput, recorded: RecordedEvent) -> RunRow:
        """A root's input stands here."""
        if row.input is not None:
            self.refuse(recorded, "the run has an input already")
        return replace(row, input=recorded.position)

    @changes(RunInputErased)
    def input_erased(self, row: RunRow, event: RunInputErased, recorded: RecordedEvent) -> RunRow:
        """The input of a root that never started is gone."""
        if row.kind != "start" or row.started_at is not None or row.input_erased:
            self.refuse(recorded, "only the input of a root that never started is erased, once")
        return replace(row, input_erased=True)

    @changes(RunEligible)
    def eligible(self, row: RunRow, event: RunEligible, recorded: RecordedEvent) -> RunRow:
        """What a waiting run waited for is there."""
        self._live(row, recorded)
        if row.paused:
            self.refuse(recorded, "the run is paused")
        return replace(row, status="running") if row.status == "waiting" else row

    @changes(RunStarted)
    def started(self, row: RunRow, event: RunStarted, recorded: RecordedEvent) -> RunRow:
        """A worker of the run is ready; the first time, the run has started."""
        if row.status not in ("queued", "running") or row.paused:
            self.refuse(recorded, f"the run is {'paused' if row.paused else row.status}")
        if row.status == "running" and row.started_at is not None:
            return row
        return replace(row, status="running", started_at=row.started_at or recorded.at)

    @changes(RunRequeued)
    def requeued(self, row: RunRow, event: RunRequeued, recorded: RecordedEvent) -> RunRow:
        """A run that never started waits in the queue again, also where it was parked before."""
        self._live(row, recorded)
        if row.started_at is not None:
            self.refuse(recorded, "the run had started")
        return row if row.status == "queued" else replace(row, status="queued")

    @changes(RunRecovered)
    def recovered(self, row: RunRow, event: RunRecovered, recorded: RecordedEvent) -> RunRow:
        """Recovery is about to park a run that had started earlier, or whose chain had."""
        self._live(row, recorded)
        if row.started_at is None and row.kind != "continue" and event.reason != "imported":
            self.refuse(recorded, "a run that never started goes back to the queue or fails")
        return row

    @changes(RunParked)
    def parked(self, row: RunRow, event: RunParked, recorded: RecordedEvent) -> RunRow:
        """The run stopped at a durable boundary, and perhaps waits for something."""
        self._live(row, recorded)
        if row.started_at is None and row.kind != "continue" and event.reason != "imported":
            self.refuse(recorded, "a run that never started has no boundary to stop at")
        return replace(row, status="waiting" if event.reason == "waiting" else "running")

    @changes(RunPauseRequested)
    def pause_requested(self, row: RunRow, event: RunPauseRequested, recorded: RecordedEvent) -> RunRow:
        """The next boundary pauses the run."""
        if row.status != "running" or row.paused or row.pause_requested:
            self.refuse(recorded, "the run is not running, or is paused or about to be")
        return replace(row, pause_requested=True)

    @changes(RunPaused)
    def run_paused(self, row: RunRow, event: RunPaused, recorded: RecordedEvent) -> RunRow:
        """No node starts until somebody resumes the run."""
        if row.status not in ("running", "waiting") or row.paused:
            self.refuse(recorded, "the run is neither running nor waiting, or is paused already")
        return replace(row, paused=True, pause_requested=False)

    @changes(RunResumed)
    def resumed(self, row: RunRow, event: RunResumed, recorded: RecordedEvent) -> RunRow:
        """Somebody wants the run to go on."""
        if row.status not in ("running", "waiting"):
            self.refuse(recorded, f"the run is {row.status}")
        return replace(row, paused=False, pause_requested=False, progress=row.progress + 1, launches=0)

    @changes(RunSourceAccepted)
    def source_accepted(self, row: RunRow, event: RunSourceAccepted, recorded: RecordedEvent) -> RunRow:
        """The run goes on with other sources."""
        self._live(row, recorded)
        if (row.sources, row.definition) != (event.old_sources, event.old_definition):
            self.refuse(recorded, "the run does not stand on those sources")
        return replace(
            row,
            sources=event.new_sources,
            definition=event.new_definition,
            progress=row.progress + 1,
            launches=0,
        )

    @changes(NodeStarted)
    def node_started(self, row: RunRow, event: NodeStarted, recorded: RecordedEvent) -> RunRow:
        """An attempt began; the first of a visit is a step."""
        if row.status != "running" or row.paused or row.started_at is None:
            self.refuse(recorded, f"the run is {'paused' if row.paused else row.status}")
        return replace(
            row,
            node=event.path,
            visit=event.visit,
            attempt=event.attempt,
            steps=row.steps + (event.attempt == 1),
            progress=row.progress + 1,
            launches=0,
        )

    @changes(EffectReserved, MountEntered, RequestOpened, RequestAccepted)
    def advanced(self, row: RunRow, event: object, recorded: RecordedEvent) -> RunRow:
        """The run got further."""
        self._live(row, recorded)
        return replace(row, progress=row.progress + 1, launches=0)

    @changes(NodeFinished, MountExited, EffectApplied, EffectRejected, EffectResolved)
    def settled(self, row: RunRow, event: object, recorded: RecordedEvent) -> RunRow:
        """Something that the run had begun is settled; after its end that moves the run no further."""
        if row.finished_at is not None:
            return row
        return replace(row, progress=row.progress + 1, launches=0)

    @changes(WorkerLaunched)
    def launched(self, row: RunRow, event: WorkerLaunched, recorded: RecordedEvent) -> RunRow:
        """Every launch counts, until there is progress."""
        self._live(row, recorded)
        if event.progress != row.progress:
            self.refuse(recorded, f"the run stands at progress {row.progress}")
        return replace(row, launches=row.launches + 1)

    @changes(RunCompleted)
    def completed(self, row: RunRow, event: RunCompleted, recorded: RecordedEvent) -> RunRow:
        """The run ended well."""
        if row.status != "running" or row.started_at is None:
            self.refuse(recorded, f"the run is {row.status}")
        return self._ended(row, recorded, "completed", output=event.output)

    @changes(RunFailed)
    def failed(self, row: RunRow, event: RunFailed, recorded: RecordedEvent) -> RunRow:
        """The run failed."""
        return self._ended(row, recorded, "failed", code=event.code, message=event.message)

    @changes(RunTimedOut)
    def timed_out(self, row: RunRow, event: RunTimedOut, recorded: RecordedEvent) -> RunRow:
        """The run ended on a time limit."""
        return self._ended(row, recorded, "timed_out", code=event.code, message=event.message)

    @changes(RunCancelled)
    def cancelled(self, row: RunRow, event: RunCancelled, recorded: RecordedEvent) -> RunRow:
        """Somebody ended the run."""
        return self._ended(row, recorded, "cancelled")

    @changes(RunContinued)
    def continued(self, row: RunRow, event: RunContinued, recorded: RecordedEvent) -> RunRow:
        """A child run carries on."""
        if row.paused:
            self.refuse(recorded, "the run is paused")
        return self._ended(row, recorded, "continued", continued_by=event.child)

    def _ended(self, row: RunRow, recorded: RecordedEvent, status: str, **facts: object) -> RunRow:
        self._live(row, recorded)
        return replace(row, status=status, finished_at=recorded.at, paused=False, pause_requested=False, **facts)

    def _live(self, row: RunRow, recorded: RecordedEvent) -> None:
        if row.finished_at is not None:
            self.refuse(recorded, f"the run ended: {row.status}")


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


RUNS = Runs()
