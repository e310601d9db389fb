"""How often each node was visited and how the last visit stands (`visits`)."""

from typing import Final

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.node import NodeCarried, NodeFinished, NodeStarted
from runwright.projections.projection import Index, Key, Projection, begins, changes, follows, run_of
from runwright.projections.replace import replace

OUTCOMES: Final = ("completed", "failed", "timed_out", "cancelled")
RETRIED: Final = ("failed", "timed_out")


@frozen(kw_only=True, weakref_slot=False)
class VisitRow:
    """One node path of one run.

    ``finished`` is the position of the last `NodeFinished`; ``output`` that of the last accepted output, or
    ``None`` when the last visit did not complete. ``invocation`` is the entry of the mount around the node in
    which the last visit stands (0 outside of mounts), ``invocation_visits`` counts the visits in it.
    """

    run_id: str
    path: str
    kind: str
    visits: int
    invocation: int
    invocation_visits: int
    open: bool
    attempt: int
    deadline: int | None
    started_at: int | None
    finished_at: int | None
    outcome: str | None
    code: str | None
    finished: int | None
    output: int | None


class Visits(Projection[VisitRow]):
    """Visits, attempts, outcomes and accepted outputs of each node path.

    Decided here:

    * Attempt 1 begins the next visit; a higher one is the next attempt of the same visit, after one that
      failed or timed out. A crash retry goes on in the open attempt and writes no `NodeStarted`.
    * While a new visit is open, outcome and output of the one before stay readable; an entry of the mount
      around the node forgets them: a child begins afresh.
    * ``started_at`` is that of the visit, not of its last attempt.
    """

    name = "visits"
    row = VisitRow
    key_columns = ("run_id", "path")
    indexes = (Index(columns=("run_id",), where={"open": (True,)}, unique=True),)

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer run and node path."""
        path: str = recorded.event.path  # type: ignore[attr-defined]  # all three event classes have it
        return run_of(recorded), path

    @begins(NodeCarried)
    def carried(self, event: NodeCarried, recorded: RecordedEvent) -> VisitRow:
        """The run takes over what its ancestor had reached."""
        return VisitRow(
            run_id=run_of(recorded),
            path=event.path,
            kind=event.kind,
            visits=event.visits,
            invocation=event.invocation,
            invocation_visits=event.invocation_visits,
            open=False,
            attempt=0,
            deadline=None,
            started_at=event.started_at,
            finished_at=event.finished_at,
            outcome=event.outcome,
            code=event.code,
            finished=event.output if event.finished is None else event.finished,
            output=event.output,
        )

    @follows(NodeStarted)
    def started(self, row: VisitRow | None, event: NodeStarted, recorded: RecordedEvent) -> VisitRow:
        """A visit, or the next attempt of one, begins."""
        if row is None:
            if (event.visit, event.attempt) != (1, 1):
                self.refuse(recorded, "the next is visit 1, attempt 1")
            return _first(event, recorded)
        if row.open:
            self.refuse(recorded, f"attempt {row.attempt} of visit {row.visits} is open")
        if event.attempt > 1:
            return self._again(row, event, recorded)
        if event.visit != row.visits + 1:
            self.refuse(recorded, f"the next is visit {row.visits + 1}")
        stays = event.invocation == row.invocation
        return replace(
            row,
            kind=event.kind,
            visits=event.visit,
            invocation=event.invocation,
            invocation_visits=row.invocation_visits + 1 if stays else 1,
            open=True,
            attempt=1,
            deadline=event.deadline,
            started_at=recorded.at,
            outcome=row.outcome if stays else None,
            output=row.output if stays else None,
        )

    def _again(self, row: VisitRow, event: NodeStarted, recorded: RecordedEvent) -> VisitRow:
        if (event.visit, event.attempt) != (row.visits, row.attempt + 1) or row.outcome not in RETRIED:
            self.refuse(recorded, f"visit {row.visits} ended {row.outcome} after attempt {row.attempt}")
        return replace(row, open=True, attempt=event.attempt, deadline=event.deadline)

    @changes(NodeFinished)
    def ended(self, row: VisitRow, event: NodeFinished, recorded: RecordedEvent) -> VisitRow:
        """The open attempt ends."""
        if not row.open or (event.visit, event.attempt) != (row.visits, row.attempt):
            self.refuse(recorded, "that is not the open attempt")
        if event.outcome not in OUTCOMES:
            self.refuse(recorded, "it has no outcome that a node can have")
        return replace(
            row,
            open=False,
            deadline=None,
            finished_at=recorded.at,
            outcome=event.outcome,
            code=event.code,
            finished=recorded.position,
            output=recorded.position if event.outcome == "completed" else None,
        )


def _first(event: NodeStarted, recorded: RecordedEvent) -> VisitRow:
    return VisitRow(
        run_id=run_of(recorded),
        path=event.path,
        kind=event.kind,
        visits=1,
        invocation=event.invocation,
        invocation_visits=1,
        open=True,
        attempt=1,
        deadline=event.deadline,
        started_at=recorded.at,
        finished_at=None,
        outcome=None,
        code=None,
        finished=None,
        output=None,
    )


VISITS = Visits()
