"""Effects through their life: adoption, conflict, ambiguity, evidence, the operator's word (S40, S42, C22, C24)."""

from typing import Any

import pytest

from runwright.engine.commands.client import CancelRun, PauseRun, ResolveEffect, ResumeRun
from runwright.engine.commands.host import FireTimer
from runwright.engine.commands.worker import (
    Authority,
    BeginEffect,
    CompleteRun,
    EffectGrant,
    FinishNode,
    ParkRun,
    ReserveEffect,
    SettleEffect,
    StartNode,
    Timer,
)
from runwright.engine.identity import effect_id
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired
from runwright.eventstore.values import Json
from runwright.projections.control.effects import EFFECTS, EffectRow
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS
from runwright.projections.control.visits import VISITS
from support.graphs import graph, node
from support.stage import Stage

ONE = "run-1"
FLOW = graph(
    node("manual", "action", contract="manual"),
    node("again", "action", contract="idempotent", attempts=2),
    node("looked", "action", contract="observed", attempts=2),
    node("command", "shell", contract="idempotent"),
    node("plain"),
)


def begun(scene: Stage, path: str = "manual", request: Json = None) -> Authority:
    """An effect in application."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(
        worker,
        StartNode(path=path, visit=1, attempt=1),
        ReserveEffect(path=path, visit=1, request=request),
        BeginEffect(path=path, visit=1),
    )
    return worker


def settle(outcome: str, path: str = "manual", **more: Any) -> SettleEffect:
    """A settlement of the first application."""
    return SettleEffect(**{"path": path, "visit": 1, "application": 1, "outcome": outcome, **more})


def the_effect(scene: Stage) -> EffectRow:
    """The one effect there is."""
    (row,) = scene.rows(EFFECTS)
    return row


def ambiguous(scene: Stage) -> tuple[Authority, str]:
    """A run that is parked with an ambiguous effect."""
    worker = begun(scene)
    scene.applied(worker, settle("ambiguous", cause="uncertain"), ParkRun(reason="effect_ambiguous"))
    return worker, the_effect(scene).effect


def test_an_equal_reservation_adopts_the_saved_result(scene: Stage) -> None:
    """S40: the saved result comes back and nothing is called."""
    worker = begun(scene, request={"to": "a"})
    scene.applied(worker, settle("applied", result={"id": 7}, external_reference="x-7"))
    before = scene.log.head()
    (result,) = scene.tell(worker, ReserveEffect(path="manual", visit=1, request={"to": "a"}))
    assert isinstance(result, Adopted)
    assert result.value == EffectGrant(
        effect=effect_id(ONE, "manual", 1, "manual"), state="applied", applications=1, result={"id": 7}
    )
    assert scene.log.head() == before


@pytest.mark.parametrize("other", [{"to": "b"}, {"to": "a", "n": 1.0}, None])
def test_another_request_under_the_same_identity_conflicts(scene: Stage, other: Json) -> None:
    """C24: the conflict shows both fingerprints and no body, and nothing is written."""
    worker = begun(scene, request={"to": "a", "n": 1})
    before = scene.log.head()
    (result,) = scene.tell(worker, ReserveEffect(path="manual", visit=1, request=other))
    assert isinstance(result, Conflict)
    assert result.code == "effect_request_changed"
    assert {"effect", "saved", "given"} <= result.evidence.keys()
    assert result.evidence["saved"] != result.evidence["given"]
    assert "'a'" not in str(result)
    assert scene.log.head() == before


def test_values_of_a_commands_environment_are_never_stored(scene: Stage) -> None:
    """They are kept as HMACs, so the same command is still the same request."""
    request: Json = {"argv": ["x"], "env": {"TOKEN": "c4n4ry"}}
    worker = begun(scene, "command", request)
    assert not any("c4n4ry" in (each.body or "") for each in scene.log.read_all())
    (same,) = scene.tell(worker, ReserveEffect(path="command", visit=1, request=request))
    assert isinstance(same, Adopted)


def test_only_one_application_at_a_time(scene: Stage) -> None:
    """A repeated begin of the same generation adopts; an ambiguous effect is not begun."""
    worker = begun(scene)
    (again,) = scene.tell(worker, BeginEffect(path="manual", visit=1))
    assert isinstance(again, Adopted)
    assert again.value == 1
    scene.applied(worker, settle("ambiguous", cause="uncertain"))
    (refused,) = scene.tell(worker, BeginEffect(path="manual", visit=1))
    assert isinstance(refused, Conflict)
    assert refused.code == "effect_ambiguous"


@pytest.mark.parametrize(
    ("outcome", "more"),
    [("applied", {"result": 1}), ("rejected", {"code": "node_failed"}), ("ambiguous", {"cause": "uncertain"})],
)
def test_a_repeated_settlement_adopts_and_another_conflicts(scene: Stage, outcome: str, more: dict[str, Any]) -> None:
    """One durable winner."""
    worker = begun(scene)
    scene.applied(worker, settle(outcome, **more))
    before = scene.log.head()
    (same,) = scene.tell(worker, settle(outcome, **more))
    assert isinstance(same, Adopted)
    (other,) = scene.tell(worker, settle("applied", result=2))
    assert isinstance(other, Conflict)
    assert scene.log.head() == before


@pytest.mark.parametrize(
    ("path", "cause", "allowed"),
    [
        ("manual", "try", False),
        ("manual", "idempotent", False),
        ("again", "try", True),
        ("again", "idempotent", True),
        ("again", "absent", False),
        ("looked", "absent", True),
        ("looked", "try", True),
        ("looked", "idempotent", False),
    ],
)
def test_only_the_contract_lets_an_effect_be_applied_again(scene: Stage, path: str, cause: str, allowed: bool) -> None:
    """Law 7: a manual effect is never released by a worker."""
    worker = begun(scene, path)
    (result,) = scene.tell(worker, settle("released", path, cause=cause))
    assert isinstance(result, Applied if allowed else Conflict)
    if allowed:
        scene.applied(worker, BeginEffect(path=path, visit=1))
        assert the_effect(scene).applications == 2


def test_a_node_does_not_end_before_its_effect(scene: Stage) -> None:
    """In application or ambiguous, no attempt ends; completed needs it applied."""
    worker = begun(scene)
    for outcome, code in (("completed", None), ("failed", "node_failed"), ("timed_out", "node_timed_out")):
        finish = FinishNode(path="manual", visit=1, attempt=1, outcome=outcome, code=code)  # type: ignore[arg-type]
        (result,) = scene.tell(worker, finish)
        assert isinstance(result, Conflict)
    scene.applied(worker, settle("rejected", code="node_failed"))
    (completed,) = scene.tell(worker, FinishNode(path="manual", visit=1, attempt=1, outcome="completed", output=1))
    assert isinstance(completed, Conflict)
    scene.applied(
        worker, FinishNode(path="manual", visit=1, attempt=1, outcome="failed", code="node_failed", next="plain")
    )


def test_a_released_effect_goes_with_a_visit_that_gives_up(scene: Stage) -> None:
    """The visit routes on, so nothing will try it again."""
    worker = begun(scene, "again")
    scene.applied(
        worker,
        settle("released", "again", cause="try"),
        FinishNode(path="again", visit=1, attempt=1, outcome="failed", code="node_failed"),
    )
    (other,) = scene.tell(worker, StartNode(path="plain", visit=1, attempt=1))
    assert isinstance(other, Conflict)
    scene.applied(worker, StartNode(path="again", visit=1, attempt=2))
    scene.applied(
        worker,
        FinishNode(path="again", visit=1, attempt=2, outcome="failed", code="node_failed", next="plain"),
        StartNode(path="plain", visit=1, attempt=1),
    )
    assert the_effect(scene).state == "cancelled"


def test_a_released_effect_goes_with_a_visit_that_a_timer_ends(scene: Stage) -> None:
    """Whatever its worker parked it for: nothing is left that a later visit could take up."""
    worker = begun(scene, "again")
    scene.applied(
        worker,
        settle("released", "again", cause="try"),
        ParkRun(reason="waiting", timer=Timer(kind="wait", due=scene.clock.now())),
    )
    assert isinstance(scene.host(FireTimer(run_id=ONE, kind="wait")), Applied)
    assert the_effect(scene).state == "cancelled"
    assert scene.row(VISITS, ONE, "again").outcome == "completed"


def test_a_run_that_ends_closes_its_effect(scene: Stage) -> None:
    """Cancel: in application becomes ambiguous."""
    begun(scene)
    scene.ask(CancelRun(run_id=ONE))
    assert the_effect(scene).state == "ambiguous"
    assert scene.row(VISITS, ONE, "manual").outcome == "cancelled"


@pytest.mark.parametrize(("outcome", "state"), [("applied", "applied"), ("rejected", "rejected")])
def test_late_evidence_touches_the_effect_and_nothing_else(scene: Stage, outcome: str, state: str) -> None:
    """The exact application and generation, after the run's end; a repeat adopts, a stranger is refused."""
    worker = begun(scene)
    scene.ask(CancelRun(run_id=ONE))
    run = scene.row(RUNS, ONE)
    before = scene.revision()
    stranger = Authority(run_id=ONE, owner="epoch:other", token=worker.token, generation=1)
    other = Authority(run_id=ONE, owner=worker.owner, token=worker.token, generation=2)
    for wrong in (stranger, other):
        (refused,) = scene.tell(wrong, settle(outcome))
        assert isinstance(refused, Conflict)
        assert refused.code == "claim_lost"
    (wrong_application,) = scene.tell(worker, SettleEffect(path="manual", visit=1, application=2, outcome="applied"))
    assert isinstance(wrong_application, Conflict)
    scene.applied(worker, settle(outcome))
    assert the_effect(scene).state == state
    assert len(scene.types(after=before)) == 1
    assert scene.row(RUNS, ONE) == run
    (again,) = scene.tell(worker, settle(outcome))
    assert isinstance(again, Adopted)


def test_evidence_does_not_move_a_parked_run(scene: Stage) -> None:
    """It stays parked; a resume then finds the effect settled and goes on."""
    worker, _ = ambiguous(scene)
    required = scene.ask(ResumeRun(run_id=ONE))
    assert isinstance(required, RecoveryRequired)
    scene.applied(worker, settle("applied", result=1))
    assert not scene.row(QUEUE, ONE).eligible
    assert isinstance(scene.ask(ResumeRun(run_id=ONE)), Applied)
    (grant,) = scene.tell(scene.claim(), ReserveEffect(path="manual", visit=1, request=None))
    assert isinstance(grant, Adopted)


def test_resolve_done_finishes_the_node(scene: Stage) -> None:
    """C22: it happened; the result stands, the node completes, the next worker routes."""
    _, effect = ambiguous(scene)
    command = ResolveEffect(effect=effect, resolution="done", result={"id": 1}, output="one", reason="looked")
    assert isinstance(scene.ask(command), Applied)
    assert scene.types()[-4:] == ["effect.resolved", "effect.applied", "node.finished", "run.eligible"]
    visit = scene.row(VISITS, ONE, "manual")
    assert (visit.open, visit.outcome) == (False, "completed")
    before = scene.log.head()
    assert isinstance(scene.ask(command), Adopted)
    other = scene.ask(ResolveEffect(effect=effect, resolution="not_done", reason="no"))
    assert isinstance(other, Conflict)
    assert (other.code, other.evidence["state"]) == ("revision_changed", "applied")
    assert scene.log.head() == before


def test_resolve_not_done_lets_it_be_applied_once_more(scene: Stage) -> None:
    """C22: the same attempt, a new application."""
    _, effect = ambiguous(scene)
    command = ResolveEffect(effect=effect, resolution="not_done", reason="looked")
    assert isinstance(scene.ask(command), Applied)
    assert isinstance(scene.ask(command), Adopted)
    assert scene.row(VISITS, ONE, "manual").open
    adopted, application = scene.tell(
        scene.claim(), StartNode(path="manual", visit=1, attempt=1), BeginEffect(path="manual", visit=1)
    )
    assert isinstance(adopted, Adopted)
    assert isinstance(application, Applied)
    assert application.value == 2


def test_resolve_timed_out_lets_the_node_route(scene: Stage) -> None:
    """The effect is rejected and the attempt ends `timed_out`."""
    _, effect = ambiguous(scene)
    assert isinstance(scene.ask(ResolveEffect(effect=effect, resolution="timed_out", reason="late")), Applied)
    visit = scene.row(VISITS, ONE, "manual")
    assert (visit.outcome, visit.code, the_effect(scene).state) == ("timed_out", "node_timed_out", "rejected")
    assert scene.row(QUEUE, ONE).eligible


@pytest.mark.parametrize(
    ("resolution", "state"), [("done", "applied"), ("not_done", "cancelled"), ("timed_out", "rejected")]
)
def test_a_terminal_run_only_has_its_record_settled(scene: Stage, resolution: str, state: str) -> None:
    """Nothing about the run changes."""
    begun(scene)
    scene.ask(CancelRun(run_id=ONE))
    run = scene.row(RUNS, ONE)
    before = scene.revision()
    command = ResolveEffect(effect=the_effect(scene).effect, resolution=resolution, result=1, output=1, reason="r")
    assert isinstance(scene.ask(command), Applied)
    assert the_effect(scene).state == state
    assert len(scene.types(after=before)) == 2
    assert scene.row(RUNS, ONE) == run
    assert isinstance(scene.ask(command), Adopted)


def test_a_paused_run_waits_for_its_resume_after_the_resolution(scene: Stage) -> None:
    """Resolving settles the effect; eligibility waits."""
    _, effect = ambiguous(scene)
    scene.ask(PauseRun(run_id=ONE))
    scene.ask(ResolveEffect(effect=effect, resolution="done", result=1, output=1, reason="r"))
    assert not scene.row(QUEUE, ONE).eligible
    scene.ask(ResumeRun(run_id=ONE))
    assert scene.row(QUEUE, ONE).eligible


def test_what_is_not_ambiguous_is_not_resolved(scene: Stage) -> None:
    """An unknown effect, one in application: typed answers."""
    begun(scene)
    unknown = scene.ask(ResolveEffect(effect="0" * 64, resolution="done", reason="r"))
    assert isinstance(unknown, Conflict)
    assert unknown.code == "not_found"
    busy = scene.ask(ResolveEffect(effect=the_effect(scene).effect, resolution="done", reason="r"))
    assert isinstance(busy, Conflict)
    assert busy.code == "revision_changed"


def test_a_run_that_completes_has_no_unsettled_effect(scene: Stage) -> None:
    """The fingerprint and the output stand with the end."""
    worker = begun(scene)
    scene.applied(
        worker,
        settle("applied", result=1),
        FinishNode(path="manual", visit=1, attempt=1, outcome="completed", output=1),
        CompleteRun(),
    )
    assert the_effect(scene).state == "applied"
