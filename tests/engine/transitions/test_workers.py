"""Worker lists: order, the first refusal, nodes, waits, retries and headless requests."""

import pytest

from runwright.engine.commands.host import ClaimRun, FireTimer, RecordExit
from runwright.engine.commands.worker import (
    BeginEffect,
    CloseRequest,
    CompleteRun,
    ExitWorker,
    FailRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    Ready,
    ReserveEffect,
    SettleEffect,
    StartNode,
    SubmitCandidate,
    Timer,
    UpdateNode,
)
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.events.node import NodeUpdated
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.visits import VISITS
from support.graphs import graph, node
from support.stage import PROCESS, Stage

ONE = "run-1"
FLOW = graph(node("one", attempts=2), node("rest", "wait"), node("ask", "agent"), node("end"), max_steps=3)
START = StartNode(path="one", visit=1, attempt=1)
DONE = FinishNode(path="one", visit=1, attempt=1, outcome="completed", next="one", output=1)
FAILED = FinishNode(path="one", visit=1, attempt=1, outcome="failed", code="node_failed", error="token=abc broke")


def refused(scene: Stage, transition: object) -> str:
    """Have one transition refused, without a trace; answers the rule or the code."""
    before = scene.log.head()
    (result,) = scene.tell(scene.last, transition)  # type: ignore[arg-type]
    assert isinstance(result, Conflict), result
    assert scene.log.head() == before
    return str(result.evidence.get("rule", result.code))


def test_the_first_refusal_ends_the_list_and_what_stands_before_it_commits(scene: Stage) -> None:
    """One result for each that was decided, none for the rest."""
    scene.queue(FLOW)
    worker = scene.claim()
    results = scene.tell(worker, START, DONE, StartNode(path="nowhere", visit=1, attempt=1), CompleteRun())
    assert [type(each).__name__ for each in results] == ["Applied", "Applied", "Conflict"]
    assert scene.row(VISITS, ONE, "one").outcome == "completed"
    assert scene.row(RUNS, ONE).status == "running"


def test_what_may_start(scene: Stage) -> None:
    """Known nodes, the next visit, the declared attempt, one at a time, within the bound on steps."""
    scene.queue(FLOW)
    scene.claim(ready=False)
    assert refused(scene, START) == "not_ready"
    scene.applied(scene.last, Ready())
    assert refused(scene, StartNode(path="nowhere", visit=1, attempt=1)) == "unknown_node"
    assert refused(scene, StartNode(path="one", visit=2, attempt=1)) == "visit_out_of_order"
    assert refused(scene, StartNode(path="one", visit=1, attempt=2)) == "visit_out_of_order"
    scene.applied(scene.last, START)
    assert refused(scene, StartNode(path="end", visit=1, attempt=1)) == "attempt_open"
    scene.applied(scene.last, DONE)
    assert refused(scene, StartNode(path="one", visit=1, attempt=2)) == "retry_not_declared"
    scene.applied(scene.last, StartNode(path="one", visit=2, attempt=1))
    scene.applied(scene.last, FinishNode(path="one", visit=2, attempt=1, outcome="failed", code="output_invalid"))
    assert refused(scene, StartNode(path="one", visit=2, attempt=2)) == "retry_not_declared"
    scene.applied(scene.last, StartNode(path="end", visit=1, attempt=1))
    scene.applied(scene.last, FinishNode(path="end", visit=1, attempt=1, outcome="completed", next="one", output=1))
    assert refused(scene, StartNode(path="one", visit=3, attempt=1)) == "max_steps_exceeded"
    assert scene.row(RUNS, ONE).steps == 3


def test_a_declared_retry_is_the_next_attempt_and_no_step(scene: Stage) -> None:
    """Two attempts were declared; a third is refused."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, START, FAILED, StartNode(path="one", visit=1, attempt=2))
    assert scene.row(RUNS, ONE).steps == 1
    scene.applied(worker, FinishNode(path="one", visit=1, attempt=2, outcome="timed_out", code="node_timed_out"))
    assert refused(scene, StartNode(path="one", visit=1, attempt=3)) == "retry_not_declared"


def test_an_equal_end_adopts_and_another_conflicts(scene: Stage) -> None:
    """Compared as JSON: 1 is not true."""
    scene.queue(FLOW)
    worker = scene.claim()
    scene.applied(worker, START, DONE)
    before = scene.log.head()
    (same,) = scene.tell(worker, DONE)
    assert isinstance(same, Adopted)
    assert scene.log.head() == before
    assert refused(scene, FinishNode(path="one", visit=1, attempt=1, outcome="completed", next="one", output=True))
    assert refused(scene, FAILED) == "revision_changed"
    assert refused(scene, FinishNode(path="one", visit=9, attempt=1, outcome="completed")) == "attempt_not_open"


def test_what_an_end_needs(scene: Stage) -> None:
    """A code exactly where it did not complete, from the closed list; a known next place."""
    scene.queue(FLOW)
    scene.applied(scene.claim(), START)
    end = {"path": "one", "visit": 1, "attempt": 1}
    assert refused(scene, FinishNode(**end, outcome="failed")) == "code_unfit"  # type: ignore[arg-type]
    assert refused(scene, FinishNode(**end, outcome="failed", code="made_up")) == "code_unfit"  # type: ignore[arg-type]
    assert refused(scene, FinishNode(**end, outcome="completed", code="node_failed")) == "code_unfit"  # type: ignore[arg-type]
    assert refused(scene, FinishNode(**end, outcome="completed", next="nowhere")) == "unknown_node"  # type: ignore[arg-type]
    assert refused(scene, FinishNode(**end, outcome="completed", output=float("nan"))) == "output_invalid"  # type: ignore[arg-type]


CODED = graph(node("act", "action", contract="manual"), node("ask", "agent"))


@pytest.mark.parametrize("code", ["", "made_up", "sk-a-secret-of-the-workers"])
def test_no_word_of_a_worker_brings_a_code_of_its_own(scene: Stage, code: str) -> None:
    """Why a run or an effect failed, parked or ended is one of the closed list: it shows in status and in messages."""
    scene.queue(CODED)
    first = scene.claim()
    effect = ReserveEffect(path="act", visit=1, request=None), BeginEffect(path="act", visit=1)
    scene.applied(first, StartNode(path="act", visit=1, attempt=1), *effect)
    told = SettleEffect(path="act", visit=1, application=1, outcome="rejected", code=code)
    assert refused(scene, told) == "code_unfit"
    assert refused(scene, FailRun(outcome="failed", code=code, phase="execute", message="m")) == "code_unfit"
    assert refused(scene, ParkRun(reason="provider_error", code=code)) == "code_unfit"
    scene.host(RecordExit(run_id=ONE, worker=first.worker, outcome="crashed"))
    (late,) = scene.tell(first, told)
    assert isinstance(late, Conflict)
    assert late.code == "claim_lost"
    scene.queue(CODED, "run-2")
    scene.claim("run-2")
    scene.applied(scene.last, ParkRun(reason="provider_error", code="provider_error"))
    assert refused(scene, ExitWorker(outcome="failed", phase="load", code=code)) == "code_unfit"


def test_a_refusal_by_a_worker_has_a_code_of_the_list(scene: Stage) -> None:
    """The reason is the agent's to read; the code is everybody's."""
    scene.queue(graph(node("ask", "agent")))
    opened = OpenRequest(path="ask", visit=1, attempt=1, kind="agent", prompt="p", contract=None)
    _, request = scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), opened)
    candidate = SubmitCandidate(request=request, candidate=1, refusal="no", code="made_up")
    assert refused(scene, candidate) == "code_unfit"


def test_an_error_text_is_masked_and_bounded(scene: Stage) -> None:
    """No secret, at most 8 KiB."""
    scene.queue(FLOW)
    worker = scene.claim()
    text = "token=abc " + "ü" * 10_000
    scene.applied(
        worker, START, FAILED, FailRun(outcome="failed", code="node_failed", phase="execute", message=text, error=text)
    )
    bodies = "".join(each.body or "" for each in scene.log.read(f"run/{ONE}"))
    assert "abc" not in bodies
    terminal = scene.row(TERMINAL, ONE)
    assert len((terminal.message or "").encode()) <= 1_024


def test_updates_belong_to_the_open_attempt(scene: Stage) -> None:
    """Numbered in order, bounded, and no progress of the run."""
    scene.queue(FLOW)
    scene.applied(scene.claim(), START)
    progress = scene.row(RUNS, ONE).progress
    update = UpdateNode(path="one", visit=1, attempt=1, key="overall", update={"completed": 1})
    scene.applied(scene.last, update, update)
    numbers = [each.event.number for each in scene.log.read(f"run/{ONE}") if isinstance(each.event, NodeUpdated)]
    assert numbers == sorted(set(numbers))
    assert scene.row(RUNS, ONE).progress == progress
    large = UpdateNode(path="one", visit=1, attempt=1, key="overall", update="x" * 70_000)
    assert refused(scene, large) == "payload_too_large"
    scene.applied(scene.last, DONE)
    assert refused(scene, update) == "attempt_not_open"


def test_a_wait_is_a_timer_without_a_worker(scene: Stage) -> None:
    """S40 of a wait: it falls due once, finishes its node with null, and the run is eligible."""
    scene.queue(FLOW)
    timer = Timer(kind="wait", due=scene.clock.us + 1_000_000)
    scene.applied(scene.claim(), StartNode(path="rest", visit=1, attempt=1), ParkRun(reason="waiting", timer=timer))
    assert scene.row(RUNS, ONE).status == "waiting"
    assert scene.row(TIMERS, ONE, "wait").due == timer.due
    assert isinstance(scene.host(FireTimer(run_id=ONE, kind="wait")), Applied)
    assert scene.types()[-3:] == ["timer.fired", "node.finished", "run.eligible"]
    assert scene.row(VISITS, ONE, "rest").outcome == "completed"
    before = scene.log.head()
    again = scene.host(FireTimer(run_id=ONE, kind="wait"))
    assert isinstance(again, Conflict)
    assert again.code == "not_found"
    assert scene.log.head() == before
    scene.applied(scene.claim(), StartNode(path="end", visit=1, attempt=1))


def test_a_long_retry_delay_is_a_timer_too(scene: Stage) -> None:
    """The attempt has ended; the timer only makes the run eligible."""
    scene.queue(FLOW)
    timer = Timer(kind="retry", due=scene.clock.us + 60_000_000)
    scene.applied(scene.claim(), START, FAILED, ParkRun(reason="waiting", timer=timer))
    assert isinstance(scene.host(FireTimer(run_id=ONE, kind="retry")), Applied)
    assert scene.types()[-2:] == ["timer.fired", "run.eligible"]
    assert scene.row(QUEUE, ONE).cause == "timer"
    scene.applied(scene.claim(), StartNode(path="one", visit=1, attempt=2))


def asked(scene: Stage) -> str:
    """An open request of an agent node."""
    scene.queue(FLOW)
    worker = scene.claim()
    ask = OpenRequest(path="ask", visit=1, attempt=1, kind="agent", prompt="do it", contract={"type": "string"})
    return str(scene.applied(worker, StartNode(path="ask", visit=1, attempt=1), ask)[1])


def test_a_headless_request_is_asked_once_per_attempt(scene: Stage) -> None:
    """After a crash the same question adopts the open request; another question conflicts."""
    request = asked(scene)
    ask = OpenRequest(path="ask", visit=1, attempt=1, kind="agent", prompt="do it", contract={"type": "string"})
    (same,) = scene.tell(scene.last, ask)
    assert isinstance(same, Adopted)
    assert same.value == request
    other = OpenRequest(path="ask", visit=1, attempt=1, kind="agent", prompt="do that", contract={"type": "string"})
    assert refused(scene, other) == "revision_changed"


def test_candidates_are_refused_with_a_reason_and_then_accepted(scene: Stage) -> None:
    """The request is open again after a refusal; only an accepted one lets the node complete."""
    request = asked(scene)
    worker = scene.last
    done = FinishNode(path="ask", visit=1, attempt=1, outcome="completed", next="end", output="x")
    scene.applied(
        worker, SubmitCandidate(request=request, candidate=1, refusal="$ is no string", code="output_invalid")
    )
    assert refused(scene, done) == "request_open"
    scene.applied(worker, SubmitCandidate(request=request, candidate="x"), done)
    row = scene.row(REQUESTS, request)
    assert (row.state, row.refused, row.source) == ("accepted", 1, "agent")


def test_the_sixth_refused_candidate_is_not_taken(scene: Stage) -> None:
    """At most five refused candidates per attempt; then the attempt fails and its request closes."""
    request = asked(scene)
    bad = SubmitCandidate(request=request, candidate=1, refusal="no", code="output_invalid")
    for _ in range(5):
        scene.applied(scene.last, bad)
    assert refused(scene, bad) == "validation_failed"
    failed = FinishNode(path="ask", visit=1, attempt=1, outcome="failed", code="validation_failed", next="end")
    scene.applied(scene.last, failed)
    assert scene.row(REQUESTS, request).state == "closed"


def test_a_request_is_closed_once(scene: Stage) -> None:
    """Without an answer; a repeat adopts."""
    request = asked(scene)
    close = CloseRequest(request=request, cause="timed_out")
    scene.applied(scene.last, close)
    (again,) = scene.tell(scene.last, close)
    assert isinstance(again, Adopted)
    assert refused(scene, SubmitCandidate(request=request, candidate="x")) == "revision_changed"
    assert refused(scene, CloseRequest(request="0" * 20, cause="failed")) == "not_found"


@pytest.mark.parametrize("ready", [False, True])
def test_a_claim_is_taken_by_exactly_one(scene: Stage, ready: bool) -> None:
    """C14: the loser hears that another owner has it; the same claim again adopts."""
    scene.queue(FLOW)
    worker = scene.claim(ready=ready)
    row = scene.row(QUEUE, ONE)
    assert row.token_hash is not None
    lost = scene.host(ClaimRun(run_id=ONE, owner="epoch:other", token_hash="0" * 64, process=PROCESS))
    assert isinstance(lost, Conflict)
    assert (lost.code, lost.evidence["reason"]) == ("claim_lost", "owner_changed")
    same = scene.host(ClaimRun(run_id=ONE, owner=worker.owner, token_hash=row.token_hash, process=PROCESS))
    assert isinstance(same, Adopted)
    assert same.value == 1
