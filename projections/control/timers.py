"""What is due when (`timers`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.timer import TimerCleared, TimerFired, TimerSet
from runwright.projections.projection import Key, Projection, changes, follows, run_of


@frozen(kw_only=True, weakref_slot=False)
class TimerRow:
    """A timer that is set; a row exists only while it is. Times are UTC microseconds."""

    run_id: str
    kind: str
    due: int
    absolute: bool
    set_at: int


class Timers(Projection[TimerRow]):
    """At most one timer of each kind per run; setting it again moves it."""

    name = "timers"
    row = TimerRow
    key_columns = ("run_id", "kind")

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer run and kind."""
        kind: str = recorded.event.kind  # type: ignore[attr-defined]  # all three event classes have it
        return run_of(recorded), kind

    @follows(TimerSet)
    def timer_set(self, row: TimerRow | None, event: TimerSet, recorded: RecordedEvent) -> TimerRow:
        """The timer is due then, whatever it was before."""
        return TimerRow(
            run_id=run_of(recorded),
            kind=event.kind,
            due=event.due,
            absolute=event.absolute,
            set_at=recorded.at,
        )

    @changes(TimerFired, TimerCleared)
    def gone(self, row: TimerRow, event: object, recorded: RecordedEvent) -> None:
        """The timer fell due or is not needed any more."""
        return


TIMERS = Timers()
