"""How far a run is: status, progress, launches and the ends."""

import pytest

from runwright.eventstore.events.effect import EffectApplied, EffectReserved
from runwright.eventstore.events.event import Event
from runwright.eventstore.events.node import NodeFinished, NodeStarted
from runwright.eventstore.events.run import (
    RunCancelled,
    RunCompleted,
    RunContinued,
    RunEligible,
    RunFailed,
    RunInput,
    RunInputErased,
    RunParked,
    RunPaused,
    RunPauseRequested,
    RunRecovered,
    RunResumed,
    RunSourceAccepted,
)
from runwright.eventstore.events.worker import WorkerLaunched
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.errors import ImpossibleEvent
from support.told import PROCESS, START, Told, effect_id, fold, launched, queued, started, visited

STREAM = "run/r1"
PARKED: list[Told] = [(STREAM, RunParked(reason="waiting"))]


def row(*told: Told) -> RunRow:
    """Fold and answer the run."""
    found = fold(told).get(RUNS, "r1")
    assert found is not None
    return found


def test_a_start_is_its_own_root() -> None:
    """A started run belongs to no other chain."""
    with pytest.raises(ImpossibleEvent, match="root"):
        row(queued("r1", root="r0"))


def test_the_first_launch_starts_a_run() -> None:
    """`started_at` is the first readiness; later ones change nothing of it."""
    first = row(*started())
    assert (first.status, first.paused, first.steps) == ("running", False, 0)
    parked: list[Told] = [(STREAM, RunParked(reason="worker_crashed")), (STREAM, RunEligible(cause="progress"))]
    again = row(*started(), *parked, *launched("r1", 2))
    assert (again.started_at, again.launches) == (first.started_at, 2)


def test_steps_count_visits_and_progress_counts_attempts() -> None:
    """A retry is progress and no step."""
    told = [*started(), *visited(outcome="failed"), (STREAM, NodeStarted(path="a", visit=1, attempt=2, kind="compute"))]
    found = row(*told)
    assert (found.node, found.visit, found.attempt) == ("a", 1, 2)
    assert (found.steps, found.progress) == (1, 3)


def test_launches_count_until_there_is_progress() -> None:
    """Each launch names the progress it was given, and the count begins anew with more of it."""
    told = [*started(), *PARKED]
    assert row(*told).launches == 1
    launch = WorkerLaunched(worker="w2", generation=2, progress=0, process=PROCESS)
    again = [*told, (STREAM, launch)]
    assert row(*again).launches == 2
    reserved = EffectReserved(
        effect=effect_id(1), effect_type="shell", path="a", visit=1, fingerprint="f", contract="manual"
    )
    assert row(*again, (STREAM, reserved)).launches == 0
    stale = WorkerLaunched(worker="w3", generation=3, progress=4, process=PROCESS)
    with pytest.raises(ImpossibleEvent, match="progress 0"):
        row(*told, (STREAM, stale))


def test_waiting_and_back() -> None:
    """A park for waiting shows as waiting until what it waits for is there."""
    assert row(*started(), *PARKED).status == "waiting"
    assert row(*started(), *PARKED, (STREAM, RunEligible(cause="timer"))).status == "running"
    assert row(*started(), (STREAM, RunParked(reason="worker_crashed"))).status == "running"


def test_a_pause_holds_eligibility_back() -> None:
    """Nothing makes a paused run eligible, and a resume is progress."""
    told = [*started(), *PARKED, (STREAM, RunPaused(by="cli"))]
    assert row(*told).status == "waiting"
    with pytest.raises(ImpossibleEvent, match="paused"):
        row(*told, (STREAM, RunEligible(cause="deadline")))
    resumed = row(*told, (STREAM, RunResumed(by="cli")))
    assert (resumed.paused, resumed.progress, resumed.launches) == (False, 1, 0)


def test_a_pause_is_requested_once_and_granted() -> None:
    """The request stands until the boundary."""
    told: list[Told] = [*started(), (STREAM, RunPauseRequested(by="cli"))]
    assert row(*told).pause_requested
    with pytest.raises(ImpossibleEvent):
        row(*told, (STREAM, RunPauseRequested(by="cli")))
    paused = row(*told, (STREAM, RunPaused(by="cli")))
    assert (paused.paused, paused.pause_requested) == (True, False)


def test_an_ended_run_changes_no_more() -> None:
    """Ends of its parts and late evidence are taken in; nothing else is."""
    reserved = EffectReserved(
        effect=effect_id(1), effect_type="shell", path="a", visit=1, fingerprint="f", contract="manual"
    )
    told: list[Told] = [
        *started(),
        (STREAM, NodeStarted(path="a", visit=1, attempt=1, kind="shell")),
        (STREAM, reserved),
        (STREAM, RunCancelled(by="cli")),
    ]
    ended = row(*told)
    assert (ended.status, ended.code, ended.finished_at) == ("cancelled", None, START + len(told))
    late = NodeFinished(path="a", visit=1, attempt=1, outcome="cancelled")
    assert row(*told, (STREAM, late)) == ended
    with pytest.raises(ImpossibleEvent):
        row(*told, (STREAM, late), (STREAM, EffectApplied(effect=effect_id(1))))  # it was never in application
    for event in (
        RunCompleted(output=None),
        RunFailed(code="node_failed", phase="execute", message="m"),
        NodeStarted(path="b", visit=1, attempt=1, kind="shell"),
        RunEligible(cause="timer"),
        RunPaused(by="cli"),
        RunResumed(by="cli"),
    ):
        with pytest.raises(ImpossibleEvent):
            row(*told, (STREAM, event))


def test_a_failure_keeps_code_and_message() -> None:
    """They are what a status shows."""
    found = row(*started(), (STREAM, RunFailed(code="route_missing", phase="execute", message="No case fits.")))
    assert (found.status, found.code, found.message) == ("failed", "route_missing", "No case fits.")


def test_a_continued_run_names_its_child() -> None:
    """The chain goes on from there."""
    child = RunContinued(child="r2", request="q")
    found = row(*started(), *PARKED, (STREAM, child))
    assert (found.status, found.continued_by) == ("continued", "r2")


@pytest.mark.parametrize(
    "event",
    [
        RunInput(),
        RunInputErased(),
        RunCompleted(output=None),
        RunPaused(by="cli"),
        RunParked(reason="waiting"),
        RunRecovered(source="starting", target="running", reason="worker_crashed"),
        RunResumed(by="cli"),
        NodeStarted(path="a", visit=1, attempt=1, kind="compute"),
    ],
)
def test_a_run_that_never_started_cannot(event: Event) -> None:
    """What needs a start is refused before it; a second input and a second erasure are refused at all."""
    told: list[Told] = [queued(), (STREAM, RunInput()), (STREAM, RunInputErased())]
    with pytest.raises(ImpossibleEvent):
        row(*told, (STREAM, event))


def test_accepted_sources_take_the_place_of_the_old() -> None:
    """Only those the run stands on can be exchanged."""
    accepted = RunSourceAccepted(old_sources=None, new_sources="s2", old_definition="d1", new_definition="d2", by="cli")
    told: list[Told] = [*started(), (STREAM, RunParked(reason="source_changed")), (STREAM, accepted)]
    found = row(*told)
    assert (found.sources, found.definition, found.progress) == ("s2", "d2", 1)
    with pytest.raises(ImpossibleEvent):
        row(*told, (STREAM, accepted))
