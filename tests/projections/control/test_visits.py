"""Visits, attempts and accepted outputs."""

import pytest

from runwright.eventstore.events.node import (
    MountCarried,
    MountEntered,
    MountExited,
    NodeCarried,
    NodeFinished,
    NodeStarted,
)
from runwright.projections.control.mounts import MOUNTS
from runwright.projections.control.visits import VISITS, VisitRow
from runwright.projections.errors import AlreadyHeld, ImpossibleEvent
from runwright.projections.rows import MemoryRows
from support.told import Teller, Told, started

STREAM = "run/r1"


def start(visit: int = 1, attempt: int = 1, invocation: int = 0, path: str = "a") -> Told:
    """An attempt that begins."""
    return STREAM, NodeStarted(path=path, visit=visit, attempt=attempt, kind="agent", invocation=invocation, deadline=9)


def finish(visit: int = 1, attempt: int = 1, outcome: str = "completed") -> Told:
    """An attempt that ends."""
    return STREAM, NodeFinished(path="a", visit=visit, attempt=attempt, outcome=outcome, code=None)


def rows(*told: Told) -> MemoryRows:
    """Fold visits and mounts alone."""
    found, teller = MemoryRows([VISITS, MOUNTS]), Teller()
    for each in told:
        found.apply(teller.tell(*each))
    return found


def row(*told: Told) -> VisitRow:
    """Fold and answer the node's row."""
    found = rows(*told).get(VISITS, "r1", "a")
    assert found is not None
    return found


def test_visits_count_one_by_one() -> None:
    """Each visit is the next, and no other is let in."""
    assert row(start(), finish(), start(2)).visits == 2
    for wrong in (start(1), start(3), start(2, 2)):
        with pytest.raises(ImpossibleEvent):
            row(start(), finish(), wrong)
    for wrong in (start(2), start(1, 2)):
        with pytest.raises(ImpossibleEvent):
            row(wrong)


def test_a_retry_stays_in_the_visit() -> None:
    """The next attempt follows one that failed or timed out, and is not a visit."""
    found = row(start(), finish(outcome="timed_out"), start(1, 2))
    assert (found.visits, found.attempt, found.open, found.started_at) == (1, 2, True, row(start()).started_at)
    for outcome in ("completed", "cancelled"):
        with pytest.raises(ImpossibleEvent):
            row(start(), finish(outcome=outcome), start(1, 2))


def test_one_attempt_is_open() -> None:
    """A second one is refused, of the same node and of any other of the run."""
    with pytest.raises(ImpossibleEvent, match="is open"):
        row(start(), start(2))
    with pytest.raises(AlreadyHeld):
        row(start(), start(path="b"))
    assert row(start(), finish(), start(path="b")).open is False


def test_an_attempt_ends_once() -> None:
    """Only the open one ends, with an outcome that a node can have."""
    for wrong in (finish(), finish(2), finish(1, 2)):
        with pytest.raises(ImpossibleEvent):
            row(start(), finish(), wrong)
    with pytest.raises(ImpossibleEvent, match="outcome"):
        row(start(), finish(outcome="skipped"))


def test_the_accepted_output_is_that_of_the_last_completed_visit() -> None:
    """It stays readable while the next visit is open, and goes when that does not complete."""
    assert row(start(), finish()).output == 2
    assert row(start(), finish(), start(2)).output == 2
    failed = row(start(), finish(), start(2), finish(2, outcome="failed"))
    assert (failed.output, failed.outcome, failed.finished, failed.deadline) == (None, "failed", 4, None)


def test_an_entry_of_the_mount_begins_afresh() -> None:
    """Visits in the open invocation count anew, and outputs of an older one are not seen."""
    told = [start(invocation=1), finish(), start(2, invocation=1), finish(2)]
    assert (row(*told).visits, row(*told).invocation_visits) == (2, 2)
    found = row(*told, start(3, invocation=2))
    assert (found.visits, found.invocation_visits, found.output, found.outcome) == (3, 1, None, None)


def test_what_an_ancestor_reached_is_carried() -> None:
    """The next visit counts on from there."""
    carried: Told = (
        STREAM,
        NodeCarried(path="a", kind="agent", visits=4, invocation_visits=4, outcome="completed", output=17),
    )
    assert row(carried).output == 17
    assert row(carried, start(5)).visits == 5
    with pytest.raises(ImpossibleEvent):
        row(start(), carried)


def test_mounts_are_entered_and_left() -> None:
    """One invocation after another; an input in the body is found by its position."""
    entered: Told = (STREAM, MountEntered(path="m", invocation=1, step_base=3))
    left: Told = (STREAM, MountExited(path="m", invocation=1, exit="done", outcome="completed"))
    found = rows(entered).get(MOUNTS, "r1", "m")
    assert found is not None
    assert (found.inside, found.step_base, found.input) == (True, 3, None)
    found = rows(entered, left).get(MOUNTS, "r1", "m")
    assert found is not None
    assert (found.inside, found.exit) == (False, "done")
    for wrong in ([left], [entered, entered], [entered, left, left], [entered, left, entered]):
        with pytest.raises(ImpossibleEvent):
            rows(*wrong)
    assert found.exited == found.changed
    failed: Told = (STREAM, MountCarried(path="m", invocation=1, input=5, inside=False, outcome="failed", exited=8))
    taken = rows(failed).get(MOUNTS, "r1", "m")
    assert taken is not None
    assert (taken.exited, taken.output, taken.changed) == (8, None, 0)
    left_well = MountCarried(path="m", invocation=1, input=5, inside=False, outcome="completed", output=9)
    completed: Told = (STREAM, left_well)
    taken = rows(completed).get(MOUNTS, "r1", "m")
    assert taken is not None
    assert (taken.exited, taken.output) == (9, 9)
    carried: Told = (STREAM, MountCarried(path="m", invocation=2, input=5, step_base=1))
    assert rows(carried, (STREAM, MountExited(path="m", invocation=2, exit=None, outcome="failed")))


def test_a_told_run_fits() -> None:
    """The stories of these tests fold as they stand."""
    assert rows(*started())
