"""What a run takes over from the run before it: visits, accepted outputs, mounts, as they stood."""

from collections.abc import Iterable

from runwright.eventstore.events.event import Event
from runwright.eventstore.events.node import MountCarried, NodeCarried
from runwright.projections.control.mounts import MountRow
from runwright.projections.control.visits import VisitRow


def carried(visits: Iterable[VisitRow], mounts: Iterable[MountRow]) -> tuple[Event, ...]:
    """Work out the events that a child run begins with.

    Args:
        visits: The rows of the nodes that finished, none of them open.
        mounts: The rows of the mounts that were entered.
    """
    # In the order in which they happened; an outer mount was entered before what stands in it.
    nodes = sorted(visits, key=lambda row: (row.finished or 0, row.path))
    around = sorted(mounts, key=lambda row: (row.path.count("/"), row.path))
    return (*(_mount(row) for row in around), *(_node(row) for row in nodes))


def _node(row: VisitRow) -> NodeCarried:
    return NodeCarried(
        path=row.path,
        kind=row.kind,
        visits=row.visits,
        invocation=row.invocation,
        invocation_visits=row.invocation_visits,
        outcome=row.outcome,
        output=row.output,
        code=row.code,
        finished=None if row.finished == row.output else row.finished,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _mount(row: MountRow) -> MountCarried:
    return MountCarried(
        path=row.path,
        invocation=row.invocation,
        within=row.within,
        entries=row.entries,
        step_base=row.step_base,
        input=row.input,
        inside=row.inside,
        exit=row.exit,
        outcome=row.outcome,
        code=row.code,
        output=row.output,
        exited=None if row.exited == row.output else row.exited,
    )
