"""What happened in each hour (`activity`)."""

from typing import Final

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.node import NodeFinished, NodeStarted
from runwright.eventstore.events.run import (
    RunCancelled,
    RunCompleted,
    RunContinued,
    RunFailed,
    RunQueued,
    RunTimedOut,
)
from runwright.projections.projection import Key, Projection, follows
from runwright.projections.replace import replace

HOUR: Final = 3_600_000_000


@frozen(kw_only=True, weakref_slot=False)
class ActivityRow:
    """One hour, named by its first microsecond (UTC).

    ``queued`` counts runs that were accepted, the outcomes count ends, ``steps`` visits that began, ``failures``
    attempts that did not complete.
    """

    hour: int
    queued: int
    completed: int
    failed: int
    timed_out: int
    cancelled: int
    continued: int
    steps: int
    failures: int


class Activity(Projection[ActivityRow]):
    """Starts, ends by outcome, steps and failed attempts of each hour."""

    name = "activity"
    row = ActivityRow
    key_columns = ("hour",)

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer the hour."""
        return (recorded.at - recorded.at % HOUR,)

    @follows(RunQueued, RunCompleted, RunFailed, RunTimedOut, RunCancelled, RunContinued)
    def run_event(self, row: ActivityRow | None, event: object, recorded: RecordedEvent) -> ActivityRow:
        """A run was accepted, or ended."""
        return self._add(row, recorded, recorded.type.removeprefix("run."))

    @follows(NodeStarted)
    def step(self, row: ActivityRow | None, event: NodeStarted, recorded: RecordedEvent) -> ActivityRow | None:
        """The first attempt of a visit is a step."""
        return self._add(row, recorded, "steps") if event.attempt == 1 else row

    @follows(NodeFinished)
    def attempt(self, row: ActivityRow | None, event: NodeFinished, recorded: RecordedEvent) -> ActivityRow | None:
        """An attempt that did not complete is a failure, unless somebody cancelled it."""
        return self._add(row, recorded, "failures") if event.outcome in ("failed", "timed_out") else row

    def _add(self, row: ActivityRow | None, recorded: RecordedEvent, field: str) -> ActivityRow:
        row = row or ActivityRow(
            hour=recorded.at - recorded.at % HOUR,
            queued=0,
            completed=0,
            failed=0,
            timed_out=0,
            cancelled=0,
            continued=0,
            steps=0,
            failures=0,
        )
        return replace(row, **{field: getattr(row, field) + 1})


ACTIVITY = Activity()
