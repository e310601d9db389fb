"""What the scheduler may do with each run (`queue`)."""

from typing import Final

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.run import (
    RunCancelled,
    RunClaimed,
    RunCompleted,
    RunContinued,
    RunEligible,
    RunFailed,
    RunParked,
    RunPaused,
    RunQueued,
    RunRecovered,
    RunRequeued,
    RunStarted,
    RunTimedOut,
)
from runwright.projections.projection import Index, Projection, begins, changes, run_of
from runwright.projections.replace import replace

#: The queue states that each event may find, and the one it leaves. What is not here cannot happen.
MOVES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "run.claimed": (("queued", "parked"), "starting"),
    "run.requeued": (("starting",), "queued"),
    "run.started": (("starting",), "running"),
    "run.recovered": (("queued", "starting"), "running"),
    "run.parked": (("running", "parked"), "parked"),
    "run.completed": (("running",), "done"),
    "run.continued": (("parked",), "done"),
    "run.failed": (("starting", "running"), "failed"),
    "run.timed_out": (("queued", "starting", "running", "parked"), "failed"),
    "run.cancelled": (("queued", "starting", "running", "parked"), "cancelled"),
}

#: Park reasons that may take the place of another one; every other park finds the run running.
REPARKS: Final = (
    "imported",
    "provider_error",
    "effect_ambiguous",
    "environment_missing",
    "source_changed",
    "unsupported",
    "worker_unkillable",
)

#: How often a run that never started may go back to the queue.
MOST_REQUEUES: Final = 2

LIVE: Final = ("queued", "starting", "running", "parked")


@frozen(kw_only=True, weakref_slot=False)
class QueueRow:
    """One run's place in the queue and its claim; the lease itself lives with the holder.

    ``since`` (UTC microseconds) tells when the state or park reason was taken; ``order`` is the position of the
    event that made the run eligible, so that the oldest goes first. ``cause`` says why it is or was last eligible.
    """

    run_id: str
    session: str | None
    project: str | None
    #: ``queued``, ``starting``, ``running``, ``parked``, ``done``, ``failed``, ``cancelled``.
    state: str
    #: Whether a worker of this run was ever ready.
    started: bool
    eligible: bool
    cause: str | None
    order: int
    reason: str | None
    code: str | None
    detail: str | None
    since: int
    owner: str | None
    token_hash: str | None
    generation: int
    #: How often a launch that never started was put back.
    requeues: int


class Queue(Projection[QueueRow]):
    """The queue state, the park reason and the claim of each run.

    Decided here:

    * A continuation is queued eligible. A claim uses eligibility up; going back to the queue restores it, with
      the old order. Parking and pausing take it away until a new `RunEligible`.
    * `RunRecovered` takes a run to ``running`` without a claim, so that the `RunParked` behind it in the same
      append finds what it needs. From ``queued``, and from a ``starting`` that never started, that is for
      ``imported`` alone.
    * A parked run is parked again only for a reason in `REPARKS`, and another one than it has (unless it was made
      eligible since). One that a provider's errors stopped waits for its answer again once it is resumed.
    * An event written under a generation fits only the present one.
    """

    name = "queue"
    row = QueueRow
    key_columns = ("run_id",)
    indexes = (
        Index(columns=("state",), where={"state": LIVE}),
        Index(columns=("eligible", "order"), where={"eligible": (True,)}),
    )
    hidden = frozenset({"token_hash"})

    @begins(RunQueued)
    def queued(self, event: RunQueued, recorded: RecordedEvent) -> QueueRow:
        """The run takes its place."""
        continues = event.kind == "continue"
        return QueueRow(
            run_id=run_of(recorded),
            session=event.session,
            project=event.project,
            state="queued",
            started=False,
            eligible=continues,
            cause="continue" if continues else None,
            order=recorded.position,
            reason=None,
            code=None,
            detail=None,
            since=recorded.at,
            owner=None,
            token_hash=None,
            generation=0,
            requeues=0,
        )

    @changes(RunEligible)
    def made_eligible(self, row: QueueRow, event: RunEligible, recorded: RecordedEvent) -> QueueRow:
        """The scheduler may take the run."""
        if row.eligible or row.state not in ("queued", "parked"):
            self.refuse(recorded, "the run is eligible already" if row.eligible else f"the run is {row.state}")
        return replace(row, eligible=True, cause=event.cause, order=recorded.position)

    @changes(RunClaimed)
    def claimed(self, row: QueueRow, event: RunClaimed, recorded: RecordedEvent) -> QueueRow:
        """The run has an owner, for the next generation."""
        state = self._move(row, recorded)
        if not row.eligible or row.owner is not None:
            self.refuse(recorded, "the run is not eligible" if row.owner is None else "the run is claimed")
        if event.generation != row.generation + 1:
            self.refuse(recorded, f"the next generation is {row.generation + 1}")
        return replace(
            row,
            state=state,
            since=recorded.at,
            eligible=False,
            owner=event.owner,
            token_hash=event.token_hash,
            generation=event.generation,
            reason=None,
            code=None,
            detail=None,
        )

    @changes(RunStarted)
    def run_started(self, row: QueueRow, event: RunStarted, recorded: RecordedEvent) -> QueueRow:
        """The owner's worker is ready."""
        state = self._move(row, recorded)
        if row.owner is None or row.owner.rpartition(":")[2] != event.worker:
            self.refuse(recorded, "that worker does not own the run")
        return replace(row, state=state, since=recorded.at, started=True)

    @changes(RunRequeued)
    def requeued(self, row: QueueRow, event: RunRequeued, recorded: RecordedEvent) -> QueueRow:
        """A run that never started goes back."""
        state = self._move(row, recorded)
        if row.started or row.requeues >= MOST_REQUEUES:
            self.refuse(recorded, "the run had started" if row.started else f"it went back {row.requeues} times")
        return replace(
            row,
            state=state,
            since=recorded.at,
            eligible=True,
            owner=None,
            token_hash=None,
            requeues=row.requeues + 1,
        )

    @changes(RunRecovered)
    def recovered(self, row: QueueRow, event: RunRecovered, recorded: RecordedEvent) -> QueueRow:
        """Recovery takes the run on to where it can be parked."""
        state = self._move(row, recorded)
        if (event.source, event.target) != (row.state, state):
            self.refuse(recorded, f"recovery takes this run from {row.state} to {state}")
        if row.state == "queued" and event.reason != "imported":
            self.refuse(recorded, "a queued run needs no recovery")
        return replace(row, state=state, since=recorded.at, eligible=False, owner=None, token_hash=None)

    @changes(RunPaused)
    def paused(self, row: QueueRow, event: RunPaused, recorded: RecordedEvent) -> QueueRow:
        """A paused run is not to be taken; its park reason stays."""
        if row.state not in ("running", "parked"):
            self.refuse(recorded, f"the run is {row.state}")
        return replace(row, eligible=False) if row.eligible else row

    @changes(RunParked)
    def parked(self, row: QueueRow, event: RunParked, recorded: RecordedEvent) -> QueueRow:
        """The run stopped, and its claim is gone."""
        state = self._move(row, recorded)
        reparks = (*REPARKS, "waiting") if row.reason == "provider_error" else REPARKS
        if row.state == "parked" and (event.reason not in reparks or (event.reason == row.reason and not row.eligible)):
            self.refuse(recorded, f"the run is parked: {row.reason}")
        return replace(
            row,
            state=state,
            since=recorded.at,
            reason=event.reason,
            code=event.code,
            detail=event.detail,
            eligible=False,
            owner=None,
            token_hash=None,
        )

    @changes(RunCompleted, RunFailed, RunTimedOut, RunCancelled, RunContinued)
    def ended(self, row: QueueRow, event: object, recorded: RecordedEvent) -> QueueRow:
        """The run is over: nobody owns it, nothing is to be done."""
        return replace(
            row,
            state=self._move(row, recorded),
            since=recorded.at,
            reason=None,
            code=None,
            detail=None,
            eligible=False,
            owner=None,
            token_hash=None,
        )

    def _move(self, row: QueueRow, recorded: RecordedEvent) -> str:
        sources, target = MOVES[recorded.type]
        if row.state not in sources:
            self.refuse(recorded, f"the run is {row.state}")
        if recorded.generation not in (None, row.generation) and recorded.type != "run.claimed":
            self.refuse(recorded, f"it was written under generation {recorded.generation}, not {row.generation}")
        return target


QUEUE = Queue()
