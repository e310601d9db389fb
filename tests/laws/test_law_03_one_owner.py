"""Law 3: a write with a stale generation, a wrong token or an expired claim changes nothing."""

from typing import Any, get_args

import pytest
from attrs import evolve

from runwright.engine.commands.client import CancelRun
from runwright.engine.commands.host import RecordExit
from runwright.engine.commands.worker import (
    AskPerson,
    AskSession,
    Authority,
    BeginEffect,
    CloseRequest,
    CompleteRun,
    EnterMount,
    ExitMount,
    ExitWorker,
    FailRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    QueueNotification,
    Ready,
    RegisterProcess,
    ReserveEffect,
    SettleEffect,
    StartNode,
    SubmitCandidate,
    UnregisterProcess,
    UpdateNode,
    WorkerTransition,
)
from runwright.engine.results import Adopted, Conflict
from runwright.engine.transitions.store import Transitions
from support.graphs import graph, node
from support.stage import PROCESS, Stage

FLOW = graph(node("one", "action", contract="manual"))
START = StartNode(path="one", visit=1, attempt=1)

#: Every protected write; a worker's own end, and that a process of it is gone, need no claim.
PROTECTED: tuple[WorkerTransition, ...] = (
    Ready(),
    START,
    FinishNode(path="one", visit=1, attempt=1, outcome="completed", output=1),
    UpdateNode(path="one", visit=1, attempt=1, key="k", update=1),
    ReserveEffect(path="one", visit=1, request=None),
    BeginEffect(path="one", visit=1),
    SettleEffect(path="one", visit=1, application=1, outcome="applied"),
    OpenRequest(path="one", visit=1, attempt=1, kind="agent", prompt="p", contract=None),
    AskSession(path="one", visit=1, attempt=1, kind="agent", prompt="p", contract=None),
    AskPerson(path="one", visit=1, attempt=1, title="t", facts={}, subject=None, choices=[]),
    QueueNotification(path="one", visit=1, attempt=1, text="t"),
    EnterMount(path="mount", invocation=1),
    ExitMount(path="mount", invocation=1, exit="done", outcome="completed"),
    SubmitCandidate(request="r", candidate=1),
    CloseRequest(request="r", cause="failed"),
    ParkRun(reason="paused"),
    CompleteRun(),
    FailRun(outcome="failed", code="node_failed", phase="execute", message="m"),
    RegisterProcess(process=PROCESS),
)


def test_every_write_of_a_worker_is_protected() -> None:
    """But for two, which only say what is over; a new one is judged like the others unless it is named here."""
    unprotected = {ExitWorker, UnregisterProcess}
    assert {type(each) for each in PROTECTED} | unprotected == set(get_args(WorkerTransition))


def refused(scene: Stage, authority: Authority, transition: WorkerTransition) -> str:
    """Have a write refused without a trace; answers the reason."""
    before = scene.log.head()
    (result,) = scene.tell(authority, transition)
    assert isinstance(result, Conflict)
    assert result.code == "claim_lost"
    assert scene.log.head() == before
    return str(result.evidence["reason"])


@pytest.mark.parametrize("transition", PROTECTED, ids=lambda each: type(each).__name__)
def test_each_of_the_five_reasons_refuses_each_write(scene: Stage, transition: WorkerTransition) -> None:
    """Missing, another owner, another token, another generation, expired."""
    scene.queue(FLOW)
    worker = scene.claim()
    assert refused(scene, evolve(worker, owner="epoch:other"), transition) == "owner_changed"
    assert refused(scene, evolve(worker, token="0" * 64), transition) == "token_changed"
    assert refused(scene, evolve(worker, generation=2), transition) == "generation_changed"
    scene.clock.advance(30)
    assert refused(scene, worker, transition) == "expired"
    scene.ask(CancelRun(run_id="run-1"))
    assert refused(scene, worker, transition) == "missing"


def test_an_expired_claim_cannot_renew_itself(scene: Stage) -> None:
    """Even with the right token; before that, renewals and protected writes keep it."""
    scene.queue(FLOW)
    worker = scene.claim()
    for _ in range(3):
        scene.clock.advance(20)
        assert isinstance(scene.transitions.renew(worker).result(5), Adopted)
    scene.clock.advance(20)
    scene.applied(worker, START)
    scene.clock.advance(20)
    scene.applied(worker, UpdateNode(path="one", visit=1, attempt=1, key="k", update=1))
    scene.clock.advance(30)
    for _ in range(2):
        result = scene.transitions.renew(worker).result(5)
        assert isinstance(result, Conflict)
        assert result.evidence["reason"] == "expired"


@pytest.mark.parametrize("change", [{"owner": "epoch:other"}, {"token": "0" * 64}, {"generation": 7}])
def test_a_stranger_renews_nothing(scene: Stage, change: dict[str, Any]) -> None:
    """Neither by renewing nor by a write that is refused."""
    scene.queue(FLOW)
    worker = scene.claim()
    stranger = evolve(worker, **change)
    scene.clock.advance(20)
    assert isinstance(scene.transitions.renew(stranger).result(5), Conflict)
    refused(scene, stranger, START)
    scene.clock.advance(15)
    assert refused(scene, worker, START) == "expired"


def test_a_stale_generation_writes_nothing(scene: Stage) -> None:
    """After a handover the old owner is told so; releasing never lowers the generation."""
    scene.queue(FLOW)
    old = scene.claim()
    scene.applied(old, START)
    scene.host(RecordExit(run_id="run-1", worker=old.worker, outcome="crashed"))
    new = scene.claim()
    assert (old.generation, new.generation) == (1, 2)
    assert refused(scene, old, START) == "owner_changed"
    assert isinstance(scene.tell(new, START)[0], Adopted)


def test_a_claim_of_an_earlier_holder_is_void_at_once(scene: Stage) -> None:
    """Its lease died with the process that granted it."""
    scene.queue(FLOW)
    worker = scene.claim()
    later: Transitions = scene.succeed("later").transitions
    (result,) = later.worker(worker, [START]).result(5)
    assert isinstance(result, Conflict)
    assert result.evidence["reason"] == "expired"


def test_of_a_token_only_its_hash_is_stored(scene: Stage) -> None:
    """In no column of any event, in no row."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, START)
    assert not any(worker.token in f"{each.data}{each.body}" for each in scene.log.read_all())
