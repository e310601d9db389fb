"""Law 7: after a crash an effect is settled, safely retryable by its own contract, or ambiguous."""

import pytest

from runwright.engine.commands.client import CancelRun, ResolveEffect, ResumeRun
from runwright.engine.commands.host import RecordExit
from runwright.engine.commands.worker import Authority, BeginEffect, FinishNode, ReserveEffect, SettleEffect, StartNode
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.queue import QUEUE
from support.graphs import graph, node
from support.stage import Stage

FLOW = graph(
    node("manual", "action", contract="manual"),
    node("idempotent", "action", contract="idempotent"),
    node("observed", "action", contract="observed"),
)
ONE = "run-1"


def crashed(scene: Stage, path: str) -> Authority:
    """A worker that vanished after it had begun an effect."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(
        worker,
        StartNode(path=path, visit=1, attempt=1),
        ReserveEffect(path=path, visit=1, request=None),
        BeginEffect(path=path, visit=1),
    )
    scene.host(RecordExit(run_id=ONE, worker=worker.worker, outcome="crashed"))
    return worker


def test_a_manual_effect_waits_for_somebody_who_knows(scene: Stage) -> None:
    """C22: no claim, no resume and no restart of the holder applies it a second time."""
    crashed(scene, "manual")
    for _ in range(3):
        assert isinstance(scene.ask(ResumeRun(run_id=ONE)), RecoveryRequired)
    assert not scene.row(QUEUE, ONE).eligible
    (effect,) = scene.rows(EFFECTS)
    assert (effect.state, effect.applications) == ("ambiguous", 1)


def test_only_the_operators_word_applies_it_once_more(scene: Stage) -> None:
    """`not_done`: exactly one further application."""
    crashed(scene, "manual")
    (effect,) = scene.rows(EFFECTS)
    scene.ask(ResolveEffect(effect=effect.effect, resolution="not_done", reason="looked"))
    assert scene.applied(scene.claim(), BeginEffect(path="manual", visit=1)) == [2]


def test_an_idempotent_effect_may_be_applied_again_in_the_same_attempt(scene: Stage) -> None:
    """Its own contract says so; identity and attempt stay."""
    crashed(scene, "idempotent")
    worker = scene.claim()
    assert isinstance(scene.tell(worker, StartNode(path="idempotent", visit=1, attempt=1))[0], Adopted)
    assert scene.applied(worker, BeginEffect(path="idempotent", visit=1)) == [2]


def test_an_observed_effect_is_not_begun_before_it_was_looked_for(scene: Stage) -> None:
    """It is still in application: only a settlement of what was seen moves it."""
    crashed(scene, "observed")
    (result,) = scene.tell(scene.claim(), BeginEffect(path="observed", visit=1))
    assert isinstance(result, Conflict)
    assert (result.code, result.evidence["state"]) == ("effect_ambiguous", "applying")


@pytest.mark.parametrize("path", ["manual", "idempotent", "observed"])
def test_an_applied_effect_is_never_applied_again(scene: Stage, path: str) -> None:
    """Its saved result is adopted."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(
        worker,
        StartNode(path=path, visit=1, attempt=1),
        ReserveEffect(path=path, visit=1, request=None),
        BeginEffect(path=path, visit=1),
        SettleEffect(path=path, visit=1, application=1, outcome="applied", result="r"),
    )
    scene.host(RecordExit(run_id=ONE, worker=worker.worker, outcome="crashed"))
    again = scene.claim()
    reserve, begin = (
        scene.tell(again, ReserveEffect(path=path, visit=1, request=None))[0],
        scene.tell(again, BeginEffect(path=path, visit=1))[0],
    )
    assert isinstance(reserve, Adopted)
    assert reserve.value.result == "r"
    assert isinstance(begin, Conflict)


def test_a_cancelled_runs_effect_stays_for_an_operator(scene: Stage) -> None:
    """Whatever its contract: ambiguous, until evidence or a person says what happened."""
    scene.queue(FLOW)
    scene.applied(
        scene.claim(),
        StartNode(path="idempotent", visit=1, attempt=1),
        ReserveEffect(path="idempotent", visit=1, request=None),
        BeginEffect(path="idempotent", visit=1),
    )
    scene.ask(CancelRun(run_id=ONE))
    (effect,) = scene.rows(EFFECTS)
    assert effect.state == "ambiguous"
    assert isinstance(scene.ask(ResolveEffect(effect=effect.effect, resolution="not_done", reason="r")), Applied)
    (effect,) = scene.rows(EFFECTS)
    assert effect.state == "cancelled"


def test_two_visits_and_two_paths_are_two_effects(scene: Stage) -> None:
    """C26: the identity is run, full path, visit and type."""
    scene.queue(FLOW)
    worker = scene.claim()
    for visit in (1, 2):
        scene.applied(
            worker,
            StartNode(path="manual", visit=visit, attempt=1),
            ReserveEffect(path="manual", visit=visit, request="same"),
            BeginEffect(path="manual", visit=visit),
            SettleEffect(path="manual", visit=visit, application=1, outcome="applied", result=visit),
            FinishNode(path="manual", visit=visit, attempt=1, outcome="completed", next="manual", output=visit),
        )
    assert len({each.effect for each in scene.rows(EFFECTS)}) == 2
