"""What the scheduler may do with a run: the table of moves, claims, park reasons."""

import itertools

import pytest

from runwright.eventstore.events.event import Event
from runwright.eventstore.events.run import (
    RunCancelled,
    RunClaimed,
    RunCompleted,
    RunContinued,
    RunEligible,
    RunFailed,
    RunParked,
    RunPaused,
    RunRecovered,
    RunRequeued,
    RunStarted,
    RunTimedOut,
)
from runwright.projections.control.queue import QUEUE, QueueRow
from runwright.projections.errors import ImpossibleEvent
from runwright.projections.rows import MemoryRows
from support.told import START, Teller, Told, queued

STREAM = "run/r1"


def row(*told: Told) -> QueueRow:
    """Fold the queue alone and answer the run's row."""
    rows, teller = MemoryRows([QUEUE]), Teller()
    for each in told:
        rows.apply(teller.tell(*each))
    found = rows.get(QUEUE, "r1")
    assert found is not None
    return found


def claim(generation: int = 1) -> Told:
    """A claim of the next generation."""
    return STREAM, RunClaimed(generation=generation, owner=f"h:w{generation}", token_hash="ab")


ELIGIBLE: Told = (STREAM, RunEligible(cause="headless"))
QUEUED: list[Told] = [queued(), ELIGIBLE]
STARTING: list[Told] = [*QUEUED, claim()]
RUNNING: list[Told] = [*STARTING, (STREAM, RunStarted(worker="w1"))]
PARKED: list[Told] = [*RUNNING, (STREAM, RunParked(reason="waiting", code="c", detail="d"))]
WAYS = {
    "queued": QUEUED,
    "starting": STARTING,
    "running": RUNNING,
    "parked": [*PARKED, ELIGIBLE],
    "done": [*RUNNING, (STREAM, RunCompleted(output=None))],
    "failed": [*RUNNING, (STREAM, RunFailed(code="c", phase="execute", message="m"))],
    "cancelled": [*QUEUED, (STREAM, RunCancelled(by="cli"))],
}
MOVES: dict[str, tuple[Event, set[str]]] = {
    "starting": (RunClaimed(generation=1, owner="h:w", token_hash="ab"), {"queued"}),
    "next": (RunClaimed(generation=2, owner="h:w", token_hash="ab"), {"parked"}),
    "running": (RunStarted(worker="w1"), {"starting"}),
    "requeued": (RunRequeued(reason="host_stopped"), {"starting"}),
    "parked": (RunParked(reason="worker_crashed"), {"running"}),
    "completed": (RunCompleted(output=None), {"running"}),
    "continued": (RunContinued(child="r2", request="q"), {"parked"}),
    "failed": (RunFailed(code="c", phase="launch", message="m"), {"starting", "running"}),
    "cancelled": (RunCancelled(by="cli"), {"queued", "starting", "running", "parked"}),
    "timed out": (
        RunTimedOut(code="run_timed_out", phase="execute", message="m"),
        {"queued", "starting", "running", "parked"},
    ),
}


@pytest.mark.parametrize(("state", "move"), list(itertools.product(WAYS, MOVES)))
def test_every_pair_of_state_and_move(state: str, move: str) -> None:
    """Exactly the moves of the page's table happen; every other pair is refused."""
    assert row(*WAYS[state]).state == state
    event, sources = MOVES[move]
    if state in sources:
        row(*WAYS[state], (STREAM, event))
    else:
        with pytest.raises(ImpossibleEvent):
            row(*WAYS[state], (STREAM, event))


def test_a_claim_needs_eligibility_and_the_next_generation() -> None:
    """A run is not claimed twice, nor before its turn, nor with another number."""
    with pytest.raises(ImpossibleEvent, match="not eligible"):
        row(queued(), claim())
    with pytest.raises(ImpossibleEvent, match="generation is 1"):
        row(*QUEUED, claim(2))
    with pytest.raises(ImpossibleEvent):
        row(*STARTING, claim(2))
    assert row(*PARKED, ELIGIBLE, claim(2)).generation == 2


def test_the_oldest_goes_first_and_keeps_its_place() -> None:
    """The order is the position at which a run became eligible, also after it went back to the queue."""
    assert row(*QUEUED).order == 2
    back = row(*STARTING, (STREAM, RunRequeued(reason="host_stopped")))
    assert (back.state, back.eligible, back.order, back.owner, back.requeues) == ("queued", True, 2, None, 1)


def test_a_launch_goes_back_twice_at_most() -> None:
    """The third time it has to fail."""
    again: list[Told] = [claim(), (STREAM, RunRequeued(reason="host_stopped"))]
    told = [*QUEUED, *again, claim(2), again[1]]
    assert row(*told).requeues == 2
    with pytest.raises(ImpossibleEvent, match="2 times"):
        row(*told, claim(3), again[1])


def test_a_run_that_started_does_not_go_back() -> None:
    """It is parked by recovery instead, which goes through running."""
    told = [*PARKED, ELIGIBLE, claim(2)]
    with pytest.raises(ImpossibleEvent, match="had started"):
        row(*told, (STREAM, RunRequeued(reason="host_stopped")))
    recovered = RunRecovered(source="starting", target="running", reason="orphaned")
    found = row(*told, (STREAM, recovered), (STREAM, RunParked(reason="orphaned")))
    assert (found.state, found.reason, found.owner, found.eligible) == ("parked", "orphaned", None, False)


def test_recovery_says_what_it_does() -> None:
    """From and to are those of the move, and a queued run is taken along for an import alone."""
    wrong = RunRecovered(source="running", target="parked", reason="orphaned")
    with pytest.raises(ImpossibleEvent):
        row(*STARTING, (STREAM, wrong))
    with pytest.raises(ImpossibleEvent, match="no recovery"):
        row(*QUEUED, (STREAM, RunRecovered(source="queued", target="running", reason="orphaned")))
    imported = RunRecovered(source="queued", target="running", reason="imported")
    assert row(*QUEUED, (STREAM, imported), (STREAM, RunParked(reason="imported"))).reason == "imported"


def test_a_parked_run_shows_its_reason_and_takes_few_others() -> None:
    """Reason, code, detail and since stay until the next claim; an import may take their place, once."""
    found = row(*PARKED)
    assert (found.reason, found.code, found.detail, found.since) == ("waiting", "c", "d", START + len(PARKED))
    with pytest.raises(ImpossibleEvent, match="waiting"):
        row(*PARKED, (STREAM, RunParked(reason="worker_crashed")))
    imported: Told = (STREAM, RunParked(reason="imported"))
    assert row(*PARKED, imported).reason == "imported"
    with pytest.raises(ImpossibleEvent):
        row(*PARKED, imported, imported)
    assert row(*PARKED, ELIGIBLE, claim(2)).reason is None


def test_an_end_leaves_no_claim() -> None:
    """A terminal run is owned by nobody, and its generation never falls."""
    found = row(*WAYS["done"])
    assert (found.owner, found.token_hash, found.eligible, found.generation) == (None, None, False, 1)


def test_only_the_owner_starts() -> None:
    """Readiness of a worker that does not own the claim is refused."""
    with pytest.raises(ImpossibleEvent, match="does not own"):
        row(*STARTING, (STREAM, RunStarted(worker="w9")))


def test_a_stale_generation_changes_nothing() -> None:
    """An event written under another generation than the present one does not fit (law 3)."""
    rows, teller = MemoryRows([QUEUE]), Teller()
    for each in RUNNING:
        rows.apply(teller.tell(*each))
    with pytest.raises(ImpossibleEvent, match="generation 7"):
        rows.apply(teller.tell(STREAM, RunParked(reason="waiting"), generation=7))


def test_a_pause_takes_eligibility_away() -> None:
    """The park reason below it stays."""
    found = row(*PARKED, ELIGIBLE, (STREAM, RunPaused(by="cli")))
    assert (found.eligible, found.reason) == (False, "waiting")


def test_a_continuation_is_queued_eligible() -> None:
    """Its parent was."""
    assert row(queued(kind="continue", parent="r0", root="r0", request="q")).eligible
    assert not row(queued()).eligible
