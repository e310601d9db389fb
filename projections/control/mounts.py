"""Entries into mounted children (`mounts`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.node import MountCarried, MountEntered, MountExited
from runwright.projections.projection import Key, Projection, begins, changes, follows, run_of
from runwright.projections.replace import replace


@frozen(kw_only=True, weakref_slot=False)
class MountRow:
    """One mount path of one run and its current or last invocation.

    ``within`` is the invocation of the mount around this one in which the last entry stands (0 outside of
    mounts), ``entries`` counts the entries in it. ``input`` and ``output`` are positions of the events that hold
    the values, ``exited`` that of the last exit in whichever run it was, ``changed`` that of the last entry or exit, 0
    where the run took the mount over; ``step_base`` is the number of steps that the run had used when it entered.
    """

    run_id: str
    path: str
    invocation: int
    within: int
    entries: int
    inside: bool
    exit: str | None
    outcome: str | None
    code: str | None
    step_base: int
    entered_at: int
    exited_at: int | None
    input: int | None
    output: int | None
    exited: int | None
    changed: int


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
        """The run takes over a mount of its ancestor."""
        return MountRow(
            run_id=run_of(recorded),
            path=event.path,
            invocation=event.invocation,
            within=event.within,
            entries=event.entries,
            inside=event.inside,
            exit=event.exit,
            outcome=event.outcome,
            code=event.code,
            step_base=event.step_base,
            entered_at=recorded.at,
            exited_at=None if event.inside else recorded.at,
            input=event.input,
            output=event.output,
            exited=event.output if event.exited is None else event.exited,
            changed=0,
        )

    @follows(MountEntered)
    def entered(self, row: MountRow | None, event: MountEntered, recorded: RecordedEvent) -> MountRow:
        """The next invocation begins."""
        if row is not None and row.inside:
            self.refuse(recorded, f"invocation {row.invocation} is open")
        expected = 1 if row is None else row.invocation + 1
        if event.invocation != expected:
            self.refuse(recorded, f"the next is invocation {expected}")
        stays = row is not None and row.within == event.within
        return MountRow(
            run_id=run_of(recorded),
            path=event.path,
            invocation=event.invocation,
            within=event.within,
            entries=row.entries + 1 if row is not None and stays else 1,
            inside=True,
            exit=None,
            outcome=None,
            code=None,
            step_base=event.step_base,
            entered_at=recorded.at,
            exited_at=None,
            # The digest stays when the body is erased, so the row does not depend on the body.
            input=recorded.position if recorded.digest is not None else None,
            output=None,
            exited=None,
            changed=recorded.position,
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
            code=event.code,
            exited_at=recorded.at,
            output=recorded.position if completed else None,
            exited=recorded.position,
            changed=recorded.position,
        )


MOUNTS = Mounts()
