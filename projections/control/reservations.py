"""Which run holds a session (`reservations`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.run import (
    RunCancelled,
    RunCompleted,
    RunContinued,
    RunFailed,
    RunQueued,
    RunTimedOut,
)
from runwright.projections.projection import Index, Projection, begins, follows, run_of


@frozen(kw_only=True, weakref_slot=False)
class ReservationRow:
    """A run that holds a session; a row exists only while it does."""

    run_id: str
    session: str
    workflow: str
    since: int


class Reservations(Projection[ReservationRow]):
    """A session is held from `RunQueued` to the end of the run; a run without a session holds none.

    A continuation takes over by order: the parent's `RunContinued` stands before the child's `RunQueued`.
    """

    name = "reservations"
    row = ReservationRow
    key_columns = ("run_id",)
    indexes = (Index(columns=("session",), unique=True),)

    @begins(RunQueued)
    def taken(self, event: RunQueued, recorded: RecordedEvent) -> ReservationRow | None:
        """The run takes its session, if it has one."""
        if event.session is None:
            return None
        return ReservationRow(
            run_id=run_of(recorded), session=event.session, workflow=event.workflow, since=recorded.at
        )

    @follows(RunCompleted, RunFailed, RunTimedOut, RunCancelled, RunContinued)
    def released(self, row: ReservationRow | None, event: object, recorded: RecordedEvent) -> None:
        """The run gives its session back."""
        return


RESERVATIONS = Reservations()
