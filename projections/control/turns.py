"""Model turns and whether a run owns them (`turns`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.turn import TurnEnded, TurnLost, TurnStarted
from runwright.projections.projection import Index, Key, Projection, begins, changes
from runwright.projections.replace import replace


@frozen(kw_only=True, weakref_slot=False)
class TurnRow:
    """One model turn."""

    turn: str
    message: str
    run_id: str | None
    session: str
    epoch: str
    #: ``open``, ``ended``, ``lost``.
    state: str
    stop_reason: str | None
    entry: str | None
    digest: str | None
    length: int | None
    since: int


class Turns(Projection[TurnRow]):
    """``open`` → ``ended`` or ``lost``; one open turn per message and per session."""

    name = "turns"
    row = TurnRow
    key_columns = ("turn",)
    indexes = (
        Index(columns=("run_id",)),
        Index(columns=("message", "state")),
        Index(columns=("message",), where={"state": ("open",)}, unique=True),
        Index(columns=("session",), where={"state": ("open",)}, unique=True),
    )

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer the turn."""
        turn: str = recorded.event.turn  # type: ignore[attr-defined]  # all three event classes have it
        return (turn,)

    @begins(TurnStarted)
    def started(self, event: TurnStarted, recorded: RecordedEvent) -> TurnRow:
        """The turn began."""
        return TurnRow(
            turn=event.turn,
            message=event.message,
            run_id=event.run,
            session=event.session,
            epoch=event.epoch,
            state="open",
            stop_reason=None,
            entry=None,
            digest=None,
            length=None,
            since=recorded.at,
        )

    @changes(TurnEnded)
    def ended(self, row: TurnRow, event: TurnEnded, recorded: RecordedEvent) -> TurnRow:
        """The turn ended, with evidence."""
        self._open(row, recorded)
        return replace(
            row,
            state="ended",
            stop_reason=event.stop_reason,
            entry=event.entry,
            digest=event.digest,
            length=event.length,
            since=recorded.at,
        )

    @changes(TurnLost)
    def lost(self, row: TurnRow, event: TurnLost, recorded: RecordedEvent) -> TurnRow:
        """Nobody will learn how the turn ended."""
        self._open(row, recorded)
        return replace(row, state="lost", since=recorded.at)

    def _open(self, row: TurnRow, recorded: RecordedEvent) -> None:
        if row.state != "open":
            self.refuse(recorded, f"the turn is {row.state}")


TURNS = Turns()
