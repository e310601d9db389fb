"""Entries into mounted children (`mounts`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.node import MountCarried, MountEntered, MountExited
from runwright.projections.projection import Key, Projection, begins, changes, follows, run_of
from runwright.projections.replace import replace


@frozen(kw_only=True, weakref_slot=False)
class MountRow:
    """One mount path of one run and its current or last invocation.

    ``input`` and ``output`` are positions of the events that hold the values; ``step_base`` is the number of
    steps that the run had used when it entered.
    """

    run_id: str
    path: str
    invocation: int
    inside: bool
    exit: str | None
    outcome: str | None
    step_base: int
    input: int | None
    output: int | None


class Mounts(Projection[MountRow]):
    """Invocations of each mount, one after another, counted over the whole run."""

    name = "mounts"
    row = MountRow
    key_columns = ("run_id", "path")

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer run and mount path."""
        path: str = recorded.event.path  # type: ignore[attr-defined]  # all three event classes have it
        return run_of(recorded), path

    @begins(MountCarried)
    def carried(self, event: MountCarried, recorded: RecordedEvent) -> MountRow:
        """The run takes over an open mount of its ancestor."""
        return MountRow(
            run_id=run_of(recorded),
            path=event.path,
            invocation=event.invocation,
            inside=True,
            exit=None,
            outcome=None,
            step_base=event.step_base,
            input=event.input,
            output=None,
        )

    @follows(MountEntered)
    def entered(self, row: MountRow | None, event: MountEntered, recorded: RecordedEvent) -> MountRow:
        """The next invocation begins."""
        if row is not None and row.inside:
            self.refuse(recorded, f"invocation {row.invocation} is open")
        expected = 1 if row is None else row.invocation + 1
        if event.invocation != expected:
            self.refuse(recorded, f"the next is invocation {expected}")
        return MountRow(
            run_id=run_of(recorded),
            path=event.path,
            invocation=event.invocation,
            inside=True,
            exit=None,
            outcome=None,
            step_base=event.step_base,
            # The digest stays when the body is erased, so the row does not depend on the body.
            input=recorded.position if recorded.digest is not None else None,
            output=None,
        )

    @changes(MountExited)
    def exited(self, row: MountRow, event: MountExited, recorded: RecordedEvent) -> MountRow:
        """The open invocation ends."""
        if not row.inside or event.invocation != row.invocation:
            self.refuse(recorded, "that is not the open invocation")
        completed = event.outcome == "completed" and recorded.digest is not None
        return replace(
            row,
            inside=False,
            exit=event.exit,
            outcome=event.outcome,
            output=recorded.position if completed else None,
        )


MOUNTS = Mounts()
