"""Observed ends of workers: the table of page 05, row by row, twice in a row."""

import pytest

from runwright.engine.commands.client import PauseRun, ResumeRun
from runwright.engine.commands.host import GiveUpWorker, ParkIdleRun, RecordExit
from runwright.engine.commands.worker import (
    Authority,
    BeginEffect,
    CompleteRun,
    ExitWorker,
    FinishNode,
    ParkRun,
    Ready,
    ReserveEffect,
    SettleEffect,
    StartNode,
)
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS
from runwright.projections.control.visits import VISITS
from runwright.projections.control.workers import WORKERS
from support.graphs import graph, node
from support.stage import Stage

ONE = "run-1"
FLOW = graph(
    node("one"),
    node("manual", "action", contract="manual"),
    node("idempotent", "action", contract="idempotent"),
    node("observed", "action", contract="observed"),
)
START = StartNode(path="one", visit=1, attempt=1)


def vanish(scene: Stage, worker: Authority, outcome: str = "crashed") -> str:
    """Record a worker's end, twice: the second time adds nothing. Answers what the run became."""
    command = RecordExit(run_id=worker.run_id, worker=worker.worker, outcome=outcome)  # type: ignore[arg-type]
    result = scene.host(command)
    assert isinstance(result, Applied), result
    before = scene.log.head()
    again = scene.host(command)
    assert isinstance(again, Adopted)
    assert again.value == result.value
    assert scene.log.head() == before
    return str(result.value)


def stands(scene: Stage) -> tuple[str, str | None, bool]:
    """Answer queue state, park reason, and whether it is eligible."""
    row = scene.row(QUEUE, ONE)
    assert row.owner is None
    return row.state, row.reason, row.eligible


def test_a_launch_whose_worker_vanishes_by_itself_fails(scene: Stage) -> None:
    """S14: before ``ready`` and never started, under a living host: `activation_failed`, the input erased."""
    scene.queue(FLOW)
    assert vanish(scene, scene.claim(ready=False)) == "failed"
    run = scene.row(RUNS, ONE)
    assert (run.status, run.code, run.input_erased) == ("failed", "activation_failed", True)


@pytest.mark.parametrize("outcome", ["orphaned", "timed_out"])
def test_a_launch_that_the_host_ended_goes_back_twice(scene: Stage, outcome: str) -> None:
    """The third time it fails."""
    scene.queue(FLOW)
    for _ in range(2):
        assert vanish(scene, scene.claim(ready=False), outcome) == "queued"
        assert stands(scene) == ("queued", None, True)
    assert vanish(scene, scene.claim(ready=False), outcome) == "failed"


def test_a_crash_after_progress_goes_on_by_itself(scene: Stage) -> None:
    """S50: the run is eligible again, and the saved node is not repeated."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(
        worker, START, FinishNode(path="one", visit=1, attempt=1, outcome="completed", next="manual", output=1)
    )
    assert vanish(scene, worker) == "parked"
    assert stands(scene) == ("parked", "worker_crashed", True)
    again = scene.claim()
    assert again.generation == 2
    (result,) = scene.tell(again, START)
    assert isinstance(result, Conflict)


def test_a_node_that_kills_its_worker_is_launched_twice_at_most(scene: Stage) -> None:
    """Law 8: the start of the node was progress; running the open attempt again is none."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, START)
    vanish(scene, worker)
    assert stands(scene) == ("parked", "worker_crashed", True)
    again = scene.claim()
    (adopted,) = scene.tell(again, START)
    assert isinstance(adopted, Adopted)
    vanish(scene, again)
    assert stands(scene) == ("parked", "worker_no_progress", False)


def test_a_crash_where_nothing_was_saved_parks_at_once(scene: Stage) -> None:
    """S51: ready, and gone without progress; one explicit resume gives one more try."""
    scene.queue(FLOW)
    vanish(scene, scene.claim())
    assert stands(scene) == ("parked", "worker_no_progress", False)
    scene.ask(ResumeRun(run_id=ONE))
    vanish(scene, scene.claim())
    assert stands(scene) == ("parked", "worker_no_progress", False)


def test_a_started_run_whose_next_worker_was_never_ready_is_recovered(scene: Stage) -> None:
    """S15: through `running` to `parked`, and the first event of it all is `run.recovered`."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, START)
    vanish(scene, worker)
    before = scene.revision()
    vanish(scene, scene.claim(ready=False))
    assert stands(scene) == ("parked", "worker_no_progress", False)
    assert scene.types(after=before)[2:] == ["run.recovered", "worker.exited", "run.parked"]


@pytest.mark.parametrize(
    ("outcome", "progress", "reason", "code"),
    [
        ("crashed", True, "worker_crashed", "worker_crashed"),
        ("crashed", False, "worker_no_progress", "worker_crashed"),
        ("timed_out", True, "worker_crashed", "worker_timed_out"),
        ("timed_out", False, "worker_no_progress", "worker_timed_out"),
        ("rejected", True, "protocol_rejected", "protocol_rejected"),
        ("orphaned", True, "orphaned", None),
    ],
)
def test_no_way_to_end_is_reported_as_another(
    scene: Stage, outcome: str, progress: bool, reason: str, code: str | None
) -> None:
    """Why the run stands still, and what its worker's end was: each by its own name, and none fails the run."""
    scene.queue(FLOW)
    worker = scene.claim()
    if progress:
        scene.applied(worker, START)
    vanish(scene, worker, outcome)
    row = scene.row(QUEUE, ONE)
    assert (row.reason, row.code) == (reason, code)
    assert (scene.row(RUNS, ONE).finished_at, scene.row(RUNS, ONE).code) == (None, None)
    assert scene.row(WORKERS, worker.worker).code == code


def test_an_orphan_goes_on_once_per_progress_value(scene: Stage) -> None:
    """It did not fail by itself; the second time in a row it parks."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, START)
    vanish(scene, worker, "orphaned")
    assert stands(scene) == ("parked", "orphaned", True)
    vanish(scene, scene.claim(), "orphaned")
    assert stands(scene) == ("parked", "orphaned", True)
    vanish(scene, scene.claim(), "orphaned")
    assert stands(scene) == ("parked", "worker_no_progress", False)


def applying(scene: Stage, path: str) -> Authority:
    """Bring an effect into application."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(
        worker,
        StartNode(path=path, visit=1, attempt=1),
        ReserveEffect(path=path, visit=1, request=None),
        BeginEffect(path=path, visit=1),
    )
    return worker


@pytest.mark.parametrize(
    ("path", "state", "reason"),
    [
        ("manual", "ambiguous", "effect_ambiguous"),
        ("idempotent", "reserved", "worker_crashed"),
        ("observed", "applying", "worker_crashed"),
    ],
)
def test_an_effect_in_application_goes_by_its_contract(scene: Stage, path: str, state: str, reason: str) -> None:
    """S42: manual parks, idempotent is released, observed is left for its observation."""
    vanish(scene, applying(scene, path))
    (effect,) = scene.rows(EFFECTS)
    assert effect.state == state
    assert stands(scene)[:2] == ("parked", reason)


@pytest.mark.parametrize("path", ["idempotent", "observed"])
def test_an_effect_whose_worker_may_live_elsewhere_is_ambiguous(scene: Stage, path: str) -> None:
    """The last holder was in another container: nobody saw its worker's end, whatever the contract says."""
    worker = applying(scene, path)
    scene.host(RecordExit(run_id=ONE, worker=worker.worker, outcome="orphaned", end="unseen"))
    assert scene.rows(EFFECTS)[0].state == "ambiguous"
    assert stands(scene)[:2] == ("parked", "effect_ambiguous")


def test_the_next_worker_settles_what_it_observed(scene: Stage) -> None:
    """Present: the same application is applied, under the next generation."""
    vanish(scene, applying(scene, "observed"))
    scene.applied(
        scene.claim(),
        SettleEffect(path="observed", visit=1, application=1, outcome="applied", result="there"),
        FinishNode(path="observed", visit=1, attempt=1, outcome="completed", output="there"),
        CompleteRun(),
    )


def test_an_observed_absence_lets_it_be_applied_again(scene: Stage) -> None:
    """Absent: released, and begun as application 2."""
    vanish(scene, applying(scene, "observed"))
    _, application = scene.applied(
        scene.claim(),
        SettleEffect(path="observed", visit=1, application=1, outcome="released", cause="absent"),
        BeginEffect(path="observed", visit=1),
    )
    assert application == 2


def test_recovery_grants_a_pause_that_was_asked_for(scene: Stage) -> None:
    """The run parks as `paused` and waits for the resume."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, START)
    scene.ask(PauseRun(run_id=ONE))
    vanish(scene, worker)
    assert stands(scene) == ("parked", "paused", False)
    assert scene.row(RUNS, ONE).paused
    assert scene.types()[-2:] == ["run.paused", "run.parked"]


def test_the_end_of_a_worker_whose_run_went_on_is_only_recorded(scene: Stage) -> None:
    """After a park, an end, or a new owner, nothing but the worker's row changes."""
    scene.queue(FLOW)
    first = scene.claim()
    scene.applied(first, START, ParkRun(reason="host_stopped"))
    scene.claim()
    before = scene.revision()
    assert vanish(scene, first, "orphaned") == "running"
    assert scene.types(after=before) == ["worker.exited"]


def test_a_worker_says_how_it_ends_after_it_gave_the_claim_back(scene: Stage) -> None:
    """While it holds the claim it first says what becomes of the run; a repeat adopts."""
    scene.queue(FLOW)
    worker = scene.claim()
    (early,) = scene.tell(worker, ExitWorker(outcome="finished"))
    assert isinstance(early, Conflict)
    assert early.code == "protocol_rejected"
    scene.applied(worker, START, ParkRun(reason="host_stopped"), ExitWorker(outcome="parked"))
    (again,) = scene.tell(worker, ExitWorker(outcome="parked"))
    assert isinstance(again, Adopted)
    assert scene.row(WORKERS, worker.worker).outcome == "parked"


def test_a_worker_that_breaks_its_channel_parks_its_run(scene: Stage) -> None:
    """A pause that was asked for is a flag beside the reason; one explicit resume gives one more try."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, START)
    scene.ask(PauseRun(run_id=ONE))
    assert vanish(scene, worker, "rejected") == "parked"
    assert stands(scene) == ("parked", "protocol_rejected", False)
    assert scene.row(RUNS, ONE).paused
    row = scene.row(WORKERS, worker.worker)
    assert (row.outcome, row.phase, row.code) == ("failed", "execute", "protocol_rejected")


def test_a_launch_whose_worker_breaks_its_channel_fails_by_that_name(scene: Stage) -> None:
    """It never started, and it does not start again by itself."""
    scene.queue(FLOW)
    assert vanish(scene, scene.claim(ready=False), "rejected") == "failed"
    assert scene.row(RUNS, ONE).code == "protocol_rejected"


def test_an_effect_of_a_rejected_worker_is_judged_by_its_contract(scene: Stage) -> None:
    """What may have happened outside comes before what the worker did to its channel."""
    assert vanish(scene, applying(scene, "manual"), "rejected") == "parked"
    assert stands(scene)[:2] == ("parked", "effect_ambiguous")


@pytest.mark.parametrize(("late", "outcome"), [(True, "timed_out"), (False, None)])
def test_an_attempt_that_overran_its_deadline_ends_with_its_worker(
    scene: Stage, late: bool, outcome: str | None
) -> None:
    """The host had to end the worker: the next one routes from the time-out, and begins nothing anew."""
    scene.queue(FLOW)
    deadline = scene.clock.now() + 5_000_000
    start = StartNode(path="one", visit=1, attempt=1, deadline=deadline)
    scene.applied(scene.claim(), start, ParkRun(reason="host_stopped"))
    worker = scene.claim()
    scene.clock.advance(6 if late else 1)
    vanish(scene, worker, "timed_out")
    visit = scene.row(VISITS, ONE, "one")
    assert (visit.open, visit.outcome) == (not late, outcome)
    assert stands(scene) == ("parked", "worker_crashed" if late else "worker_no_progress", late)


def test_a_run_whose_worker_does_not_die_waits_for_somebody(scene: Stage) -> None:
    """Twice adds nothing; a resume while it lives parks it again; its effect is judged once its end was seen."""
    worker = applying(scene, "manual")
    command = GiveUpWorker(run_id=ONE, worker=worker.worker)
    assert isinstance(scene.host(command), Applied)
    assert stands(scene) == ("parked", "worker_unkillable", False)
    assert isinstance(scene.host(command), Adopted)
    assert scene.rows(EFFECTS)[0].state == "applying"
    scene.ask(ResumeRun(run_id=ONE))
    assert isinstance(scene.host(command), Applied)
    assert stands(scene) == ("parked", "worker_unkillable", False)
    assert vanish(scene, worker) == "parked"
    assert stands(scene) == ("parked", "effect_ambiguous", False)
    assert scene.rows(EFFECTS)[0].state == "ambiguous"


def test_a_worker_that_ends_late_gives_back_what_may_be_tried_again(scene: Stage) -> None:
    """An idempotent effect is released, and the run waits for its resume as before."""
    worker = applying(scene, "idempotent")
    scene.host(GiveUpWorker(run_id=ONE, worker=worker.worker))
    vanish(scene, worker)
    assert stands(scene) == ("parked", "worker_unkillable", False)
    assert scene.rows(EFFECTS)[0].state == "reserved"


def test_a_launch_whose_worker_does_not_die_fails(scene: Stage) -> None:
    """It never started, so nothing is kept of it but why."""
    scene.queue(FLOW)
    worker = scene.claim(ready=False)
    assert isinstance(scene.host(GiveUpWorker(run_id=ONE, worker=worker.worker)), Applied)
    assert scene.row(RUNS, ONE).code == "worker_unkillable"
    assert vanish(scene, worker) == "failed"


def test_a_launch_that_is_stopped_in_good_order_goes_back(scene: Stage) -> None:
    """The holder stops between the claim and ``ready``."""
    scene.queue(FLOW)
    scene.applied(scene.claim(ready=False), ParkRun(reason="host_stopped"), ExitWorker(outcome="parked"))
    assert stands(scene) == ("queued", None, True)


def test_a_started_run_that_cannot_be_loaded_parks(scene: Stage) -> None:
    """`starting` to `parked` goes through `run.recovered`."""
    scene.queue(FLOW)
    scene.applied(scene.claim(), START, ParkRun(reason="host_stopped"))
    worker = scene.claim(ready=False)
    scene.applied(worker, ParkRun(reason="environment_missing", detail="agent default"))
    assert stands(scene) == ("parked", "environment_missing", False)
    assert scene.types()[-2:] == ["run.recovered", "run.parked"]


def test_a_run_that_nobody_can_drive_is_parked(scene: Stage) -> None:
    """The reason takes the place of one that would go on by itself; a repeat adopts."""
    scene.queue(FLOW)
    command = ParkIdleRun(run_id=ONE, reason="environment_missing", detail="nobody handed the workflow over")
    refused = scene.host(command)
    assert isinstance(refused, Conflict)
    assert refused.code == "not_started"
    scene.applied(scene.claim(), START, ParkRun(reason="host_stopped"))
    assert isinstance(scene.host(command), Applied)
    assert stands(scene) == ("parked", "environment_missing", False)
    assert isinstance(scene.host(command), Adopted)


@pytest.mark.parametrize("ready", [False, True])
def test_an_imported_run_parks_whatever_it_was_doing(scene: Stage, ready: bool) -> None:
    """Also where it never started, and its effects in application are ambiguous whatever their contract."""
    scene.queue(FLOW)
    worker = scene.claim(ready=ready)
    if ready:
        scene.applied(
            worker,
            StartNode(path="idempotent", visit=1, attempt=1),
            ReserveEffect(path="idempotent", visit=1, request=None),
            BeginEffect(path="idempotent", visit=1),
        )
    assert isinstance(scene.host(ParkIdleRun(run_id=ONE, reason="imported")), Applied)
    assert stands(scene) == ("parked", "imported", False)
    assert [each.state for each in scene.rows(EFFECTS)] == (["ambiguous"] if ready else [])
    assert vanish(scene, worker, "orphaned") == "parked"


def test_ready_is_said_once(scene: Stage) -> None:
    """A repeat adopts."""
    scene.queue(FLOW)
    (again,) = scene.tell(scene.claim(), Ready())
    assert isinstance(again, Adopted)
