"""The transition matrix of page 05, cell by cell: pause, resume, cancel."""

from collections.abc import Callable

import pytest

from runwright.engine.commands.client import AcceptedSources, CancelRun, PauseRun, ResumeRun
from runwright.engine.commands.host import FireTimer, RecordExit
from runwright.engine.commands.worker import (
    BeginEffect,
    CompleteRun,
    FinishNode,
    ParkRun,
    ReserveEffect,
    SettleEffect,
    StartNode,
    Timer,
)
from runwright.engine.graph.definition import Definition, NodeSpec
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired, Result
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS
from support.graphs import graph, node
from support.stage import Stage

FLOW = graph(node("work", "action", contract="manual"), node("rest", "wait"), node("end"))
ONE = "run-1"


def never_started(scene: Stage) -> None:
    """Queued."""
    scene.queue(FLOW)


def starting(scene: Stage) -> None:
    """Claimed, not ready, never started."""
    scene.queue(FLOW)
    scene.claim(ready=False)


def running(scene: Stage) -> None:
    """In its first node."""
    scene.queue(FLOW)
    scene.applied(scene.claim(), StartNode(path="work", visit=1, attempt=1))


def waiting(scene: Stage) -> None:
    """Parked for a timer."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(
        worker,
        StartNode(path="rest", visit=1, attempt=1),
        ParkRun(reason="waiting", timer=Timer(kind="wait", due=scene.clock.us + 1)),
    )


def parked(scene: Stage, reason: str = "provider_error") -> None:
    """Parked for a person."""
    running(scene)
    scene.applied(scene.last, ParkRun(reason=reason))


def by_itself(scene: Stage) -> None:
    """Parked, and going on by itself."""
    parked(scene, "host_stopped")


def changed(scene: Stage) -> None:
    """Parked because its sources changed."""
    parked(scene, "source_changed")


def ambiguous(scene: Stage) -> None:
    """Parked with an effect that nobody can tell the outcome of."""
    running(scene)
    scene.applied(
        scene.last,
        ReserveEffect(path="work", visit=1, request=None),
        BeginEffect(path="work", visit=1),
        SettleEffect(path="work", visit=1, application=1, outcome="ambiguous", cause="uncertain"),
        ParkRun(reason="effect_ambiguous"),
    )


def paused(scene: Stage) -> None:
    """Paused at its boundary."""
    running(scene)
    scene.ask(PauseRun(run_id=ONE))
    scene.applied(scene.last, ParkRun(reason="paused"))


def pause_requested(scene: Stage) -> None:
    """At work, and about to be paused."""
    running(scene)
    scene.ask(PauseRun(run_id=ONE))


def completed(scene: Stage) -> None:
    """Ended well."""
    scene.queue(FLOW)
    scene.applied(
        scene.claim(),
        StartNode(path="end", visit=1, attempt=1),
        FinishNode(path="end", visit=1, attempt=1, outcome="completed", output=1),
        CompleteRun(),
    )


def cancelled(scene: Stage) -> None:
    """Cancelled while it ran."""
    running(scene)
    scene.ask(CancelRun(run_id=ONE))


CELLS: list[tuple[Callable[[Stage], None], str, str, str]] = [
    (never_started, "Conflict not_started", "Conflict not_parked", "Applied"),
    (starting, "Conflict not_started", "Conflict not_parked", "Applied"),
    (running, "Applied", "Adopted", "Applied"),
    (waiting, "Applied", "Conflict not_parked", "Applied"),
    (parked, "Applied", "Applied", "Applied"),
    (by_itself, "Applied", "Adopted", "Applied"),
    (changed, "Applied", "RecoveryRequired source_changed", "Applied"),
    (ambiguous, "Applied", "RecoveryRequired effect_ambiguous", "Applied"),
    (paused, "Adopted", "Applied", "Applied"),
    (pause_requested, "Adopted", "Applied", "Applied"),
    (completed, "Conflict already_terminal", "Conflict already_terminal", "Conflict already_terminal"),
    (cancelled, "Conflict already_terminal", "Conflict already_terminal", "Adopted"),
]


def said(result: Result[object]) -> str:
    """Write an answer as the matrix does."""
    match result:
        case Conflict(code):
            return f"Conflict {code}"
        case RecoveryRequired(reason):
            return f"RecoveryRequired {reason}"
        case _:
            return type(result).__name__


@pytest.mark.parametrize(("prepare", "pause", "resume", "cancel"), CELLS, ids=[each[0].__name__ for each in CELLS])
@pytest.mark.parametrize("column", [0, 1, 2], ids=["pause", "resume", "cancel"])
def test_cell(
    scene: Stage, prepare: Callable[[Stage], None], pause: str, resume: str, cancel: str, column: int
) -> None:
    """Each cell answers as page 05 says, and what is not applied writes nothing."""
    prepare(scene)
    before = scene.log.head()
    command = (PauseRun(run_id=ONE), ResumeRun(run_id=ONE), CancelRun(run_id=ONE))[column]
    answer = said(scene.ask(command))
    assert answer == (pause, resume, cancel)[column]
    assert (scene.log.head() == before) is (answer != "Applied")
    again = said(scene.ask(command))
    if answer == "Applied":
        # A repeat finds its own work; a resumed run that lives is at work or about to be.
        assert again in ("Adopted", "Conflict not_parked")


def test_an_end_is_told_with_outcome_and_time(scene: Stage) -> None:
    """The conflict shows how and when the run ended."""
    completed(scene)
    result = scene.ask(CancelRun(run_id=ONE))
    assert isinstance(result, Conflict)
    assert result.evidence == {"run": ONE, "outcome": "completed", "finished_at": scene.clock.us}


def test_an_unexpected_revision_changes_nothing_and_adoption_needs_none(scene: Stage) -> None:
    """Adoption is checked before the expected revision."""
    running(scene)
    result = scene.ask(PauseRun(run_id=ONE, expected=1))
    assert isinstance(result, Conflict)
    assert result.code == "revision_changed"
    assert isinstance(scene.ask(PauseRun(run_id=ONE, expected=scene.revision())), Applied)
    assert isinstance(scene.ask(PauseRun(run_id=ONE, expected=1)), Adopted)


def test_a_waiting_run_keeps_its_reason_through_a_pause(scene: Stage) -> None:
    """Resume clears the flag; what it waits for is still to come."""
    waiting(scene)
    scene.ask(PauseRun(run_id=ONE))
    assert scene.row(RUNS, ONE).paused
    scene.ask(ResumeRun(run_id=ONE))
    row = scene.row(QUEUE, ONE)
    assert (row.state, row.reason, row.eligible) == ("parked", "waiting", False)


def test_a_timer_that_falls_due_during_a_pause_waits_for_the_resume(scene: Stage) -> None:
    """It finishes the attempt; the run is eligible only after the resume."""
    waiting(scene)
    scene.ask(PauseRun(run_id=ONE))
    assert isinstance(scene.host(FireTimer(run_id=ONE, kind="wait")), Applied)
    assert scene.types()[-2:] == ["timer.fired", "node.finished"]
    assert not scene.row(QUEUE, ONE).eligible
    scene.ask(ResumeRun(run_id=ONE))
    assert scene.row(QUEUE, ONE).eligible


def test_resume_of_an_ambiguous_paused_run_only_clears_the_flag(scene: Stage) -> None:
    """Its own reason does not let it go on."""
    ambiguous(scene)
    scene.ask(PauseRun(run_id=ONE))
    assert isinstance(scene.ask(ResumeRun(run_id=ONE)), Applied)
    row = scene.row(QUEUE, ONE)
    assert (row.reason, row.eligible, scene.row(RUNS, ONE).paused) == ("effect_ambiguous", False, False)


def accepting(definition: Definition, sources: str | None = None) -> ResumeRun:
    """A resume that accepts a changed definition."""
    accept = AcceptedSources(snapshot=definition.snapshot(), paths={"flow.py": "0" * 64})
    return ResumeRun(run_id=ONE, definition=definition.digest, sources=sources, accept=accept)


def test_changed_sources_are_refused_before_anything_is_written(scene: Stage) -> None:
    """C38: both digests are shown; put back, the resume goes through."""
    changed(scene)
    other = graph(*FLOW.nodes.values(), node("new"))
    before = scene.log.head()
    result = scene.ask(ResumeRun(run_id=ONE, definition=other.digest))
    assert isinstance(result, RecoveryRequired)
    assert result.evidence["old_definition"] == FLOW.digest
    assert result.evidence["new_definition"] == other.digest
    assert scene.log.head() == before
    assert isinstance(scene.ask(ResumeRun(run_id=ONE, definition=FLOW.digest)), Applied)


def test_accepted_sources_are_recorded_and_the_run_goes_on(scene: Stage) -> None:
    """The new definition stands in its own stream, and later decisions use it."""
    changed(scene)
    other = graph(*FLOW.nodes.values(), node("new"))
    assert isinstance(scene.ask(accepting(other, "f" * 64)), Applied)
    assert scene.types()[-3:] == ["run.source_accepted", "run.resumed", "run.eligible"]
    assert (scene.row(RUNS, ONE).definition, scene.row(RUNS, ONE).sources) == (other.digest, "f" * 64)
    worker = scene.claim()
    scene.applied(
        worker,
        FinishNode(path="work", visit=1, attempt=1, outcome="failed", code="node_failed", next="new"),
        StartNode(path="new", visit=1, attempt=1),
    )


def test_changed_sources_are_settled_before_a_run_goes_on_by_itself(scene: Stage) -> None:
    """C38: a run that waits for no command is refused and accepted like any other, instead of parking again."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, StartNode(path="work", visit=1, attempt=1))
    scene.host(RecordExit(run_id=ONE, worker=worker.worker, outcome="crashed"))
    assert scene.row(QUEUE, ONE).eligible
    other = graph(*FLOW.nodes.values(), node("new"))
    before = scene.log.head()
    assert isinstance(scene.ask(ResumeRun(run_id=ONE, definition=other.digest)), RecoveryRequired)
    assert scene.log.head() == before
    assert isinstance(scene.ask(accepting(other, "f" * 64)), Applied)
    assert scene.types()[-1] == "run.source_accepted"
    assert scene.row(QUEUE, ONE).eligible
    assert isinstance(scene.ask(ResumeRun(run_id=ONE, definition=other.digest, sources="f" * 64)), Adopted)


def test_a_program_without_files_is_not_one_that_has_them(scene: Stage) -> None:
    """A definition was looked at: sources that there are none of are not those of the run."""
    changed(scene)
    assert isinstance(scene.ask(accepting(FLOW, "f" * 64)), Applied)
    scene.claim()
    scene.host(RecordExit(run_id=ONE, worker=scene.last.worker, outcome="crashed"))
    result = scene.ask(ResumeRun(run_id=ONE, definition=FLOW.digest))
    assert isinstance(result, RecoveryRequired)
    assert (result.reason, result.evidence["new_sources"]) == ("source_changed", None)
    assert isinstance(scene.ask(ResumeRun(run_id=ONE, sources="f" * 64)), Applied)


@pytest.mark.parametrize("prepare", [changed, ambiguous])
def test_a_pause_ends_and_the_reason_below_it_stays(scene: Stage, prepare: Callable[[Stage], None]) -> None:
    """Resumed, as any paused run is; what it was parked for before still keeps it from going on."""
    prepare(scene)
    reason = scene.row(QUEUE, ONE).reason
    scene.ask(PauseRun(run_id=ONE))
    assert isinstance(scene.ask(ResumeRun(run_id=ONE)), Applied)
    assert (scene.types()[-1], scene.row(RUNS, ONE).paused) == ("run.resumed", False)
    queue = scene.row(QUEUE, ONE)
    assert (queue.reason, queue.eligible) == (reason, False)
    assert said(scene.ask(ResumeRun(run_id=ONE))) == f"RecoveryRequired {reason}"


def test_no_other_sources_are_put_under_a_worker(scene: Stage) -> None:
    """It has loaded those it was launched with: refused whole, also while a pause is asked for; equal ones are none."""
    running(scene)
    other = graph(*FLOW.nodes.values(), node("new"))
    for _ in range(2):
        before = scene.log.head()
        result = scene.ask(accepting(other, "f" * 64))
        assert isinstance(result, Conflict)
        assert (result.code, scene.log.head()) == ("still_live", before)
        scene.ask(PauseRun(run_id=ONE))
    scene.ask(ResumeRun(run_id=ONE))
    assert isinstance(scene.ask(accepting(FLOW)), Adopted)


def test_other_sources_are_accepted_while_a_run_waits_for_time(scene: Stage) -> None:
    """It goes on waiting, and then with them."""
    waiting(scene)
    other = graph(*FLOW.nodes.values(), node("new"))
    assert isinstance(scene.ask(accepting(other, "f" * 64)), Applied)
    assert scene.types()[-1] == "run.source_accepted"
    assert (scene.row(QUEUE, ONE).reason, scene.row(RUNS, ONE).definition) == ("waiting", other.digest)


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ((node("other"),), "vanished"),
        ((node("work"),), "kind_changed"),
    ],
)
def test_sources_that_cannot_carry_on_are_not_accepted(scene: Stage, nodes: tuple[NodeSpec, ...], problem: str) -> None:
    """The current node changed its kind, or vanished: refused before anything is written."""
    changed(scene)
    before = scene.log.head()
    result = scene.ask(accepting(graph(*nodes)))
    assert isinstance(result, RecoveryRequired)
    assert result.evidence["problem"] == problem
    assert scene.log.head() == before
