"""How runs ended, as typed facts (`terminal`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.run import RunCancelled, RunCompleted, RunFailed, RunTimedOut
from runwright.eventstore.events.worker import PresentationAbandoned, PresentationFailed, PresentationPrepared
from runwright.projections.projection import Index, Projection, begins, changes, run_of
from runwright.projections.replace import replace


@frozen(kw_only=True, weakref_slot=False)
class TerminalRow:
    """One run's end; ``output``, ``error`` and ``instructions`` are positions of events with the values."""

    run_id: str
    #: ``completed``, ``failed``, ``timed_out``, ``cancelled``.
    outcome: str
    code: str | None
    phase: str | None
    message: str | None
    finished_at: int
    output: int | None
    error: int | None
    instructions: int | None
    fingerprint: str | None
    #: ``none``, ``launch_failure``, ``terminal``.
    message_due: str
    #: ``none``, ``pending``, ``prepared``, ``failed``, ``abandoned``.
    presentation: str
    attempts: int
    since: int


class Terminal(Projection[TerminalRow]):
    """The typed facts of each end but a continuation, and how far its presentation is.

    Decided here: ``error`` follows from the event's digest, which stays when the body is erased; of a cancelled
    run it is the position of the reason, if somebody gave one.
    """

    name = "terminal"
    row = TerminalRow
    key_columns = ("run_id",)
    indexes = (
        Index(columns=("fingerprint",)),
        Index(columns=("presentation",), where={"presentation": ("pending", "failed")}),
    )

    @begins(RunCompleted)
    def completed(self, event: RunCompleted, recorded: RecordedEvent) -> TerminalRow:
        """The run ended well."""
        return _end(event, recorded, "completed", output=event.output)

    @begins(RunFailed, RunTimedOut)
    def failed(self, event: RunFailed | RunTimedOut, recorded: RecordedEvent) -> TerminalRow:
        """The run failed or ran out of time."""
        outcome = "failed" if recorded.type == RunFailed.type else "timed_out"
        return _end(event, recorded, outcome, code=event.code, phase=event.phase, message=event.message)

    @begins(RunCancelled)
    def cancelled(self, event: RunCancelled, recorded: RecordedEvent) -> TerminalRow:
        """Somebody ended the run."""
        return _end(event, recorded, "cancelled")

    @changes(PresentationPrepared)
    def prepared(self, row: TerminalRow, event: PresentationPrepared, recorded: RecordedEvent) -> TerminalRow:
        """What people will be told is worked out."""
        self._open(row, recorded)
        return replace(
            row,
            presentation="prepared",
            attempts=event.attempt,
            since=recorded.at,
            instructions=recorded.position if recorded.digest is not None else None,
        )

    @changes(PresentationFailed)
    def not_built(self, row: TerminalRow, event: PresentationFailed, recorded: RecordedEvent) -> TerminalRow:
        """It could not be worked out this time."""
        self._open(row, recorded)
        return replace(row, presentation="failed", attempts=event.attempt, since=recorded.at)

    @changes(PresentationAbandoned)
    def abandoned(self, row: TerminalRow, event: PresentationAbandoned, recorded: RecordedEvent) -> TerminalRow:
        """It never will be; or what was worked out was erased before anybody was told."""
        if row.presentation != "prepared":
            self._open(row, recorded)
        return replace(row, presentation="abandoned", since=recorded.at)

    def _open(self, row: TerminalRow, recorded: RecordedEvent) -> None:
        if row.presentation not in ("pending", "failed"):
            self.refuse(recorded, f"its presentation is {row.presentation}")


def _end(
    event: RunCompleted | RunFailed | RunTimedOut | RunCancelled,
    recorded: RecordedEvent,
    outcome: str,
    *,
    code: str | None = None,
    phase: str | None = None,
    message: str | None = None,
    output: int | None = None,
) -> TerminalRow:
    return TerminalRow(
        run_id=run_of(recorded),
        outcome=outcome,
        code=code,
        phase=phase,
        message=message,
        finished_at=recorded.at,
        output=output,
        error=recorded.position if recorded.digest is not None else None,
        instructions=None,
        fingerprint=event.fingerprint,
        message_due=event.message_due,
        presentation="none" if event.message_due == "none" else "pending",
        attempts=0,
        since=recorded.at,
    )


TERMINAL = Terminal()
