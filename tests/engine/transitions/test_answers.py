"""Answers as transitions: what is checked, what one transaction holds, who may, and who wins."""

from concurrent.futures import wait

import pytest

from runwright.engine.commands.client import AnswerRequest, CancelRun, ClientCommand, PauseRun, ResumeRun
from runwright.engine.commands.host import FireTimer, ParkIdleRun, RecordExit
from runwright.engine.commands.worker import (
    CompleteRun,
    ExitWorker,
    FinishNode,
    OpenRequest,
    ParkRun,
    StartNode,
    WorkerTransition,
)
from runwright.engine.graph.definition import Definition, NodeSpec
from runwright.engine.identity import child_id
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired
from runwright.eventstore.envelope import NEW
from runwright.eventstore.events.run import RunQueued
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.visits import VISITS
from support.following import FLOW, ONE, as_model, ask_at, at_boundary, at_checkpoint
from support.graphs import graph, node
from support.stage import Stage, settled

GUARDED = Definition(
    workflow="guarded", entry="ask", nodes={"ask": NodeSpec(path="ask", kind="checkpoint", protected=True)}
)


def test_one_transaction_ends_the_parent_and_queues_the_child(scene: Stage) -> None:
    """S35: answer, end of the checkpoint, continuation, and the child with everything carried, eligible."""
    request = at_checkpoint(scene)
    revision, head = scene.revision(), scene.log.head().position
    result = scene.ask(AnswerRequest(request=request, value={"go": True}))
    child = child_id(request)
    assert isinstance(result, Applied)
    assert (result.value, child[:10], len(child)) == (child, request[:10], 20)
    assert scene.types(after=revision) == [
        "request.submitted",
        "request.accepted",
        "node.finished",
        "run.continued",
    ]
    assert scene.types(child) == ["run.queued", "node.carried", "node.carried"]
    times = {each.at for each in scene.log.read_all(head)}
    assert len(times) == 1
    run, queue = scene.row(RUNS, child), scene.row(QUEUE, child)
    assert (run.kind, run.parent, run.root, run.request, run.step_base) == ("continue", ONE, ONE, request, 2)
    assert (queue.state, queue.eligible, queue.cause) == ("queued", True, "continue")
    carried = scene.row(VISITS, child, "ask")
    assert (carried.visits, carried.outcome, carried.open) == (1, "completed", False)
    parent = scene.row(VISITS, ONE, "ask")
    assert carried.output == parent.output is not None
    assert scene.rows(TERMINAL) == []
    worker = scene.claim(child)
    assert worker.generation == 1
    done: list[WorkerTransition] = [
        StartNode(path="last", visit=1, attempt=1),
        FinishNode(path="last", visit=1, attempt=1, outcome="completed", output=3),
        CompleteRun(),
    ]
    scene.applied(worker, *done)
    assert scene.row(RUNS, child).status == "completed"


@pytest.mark.parametrize(("most", "started"), [(2, False), (3, True)])
def test_the_bound_on_steps_is_the_chains(scene: Stage, most: int, started: bool) -> None:
    """What the runs before it used is used, however many answers there are between."""
    result = scene.ask(AnswerRequest(request=at_checkpoint(scene, max_steps=most), value=1))
    assert isinstance(result, Applied)
    (last,) = scene.tell(scene.claim(str(result.value)), StartNode(path="last", visit=1, attempt=1))
    assert isinstance(last, Applied if started else Conflict)
    if isinstance(last, Conflict):
        assert (last.code, last.evidence["steps"]) == ("max_steps_exceeded", 2)


def test_the_session_goes_from_the_parent_to_the_child(scene: Stage) -> None:
    """The reservation is never free in between, and the parent holds nothing."""
    scene.queue(FLOW, session="s-1")
    (held,) = scene.rows(RESERVATIONS, session="s-1")
    assert held.run_id == ONE
    at_boundary(scene)
    worker = scene.claim()
    scene.applied(
        worker,
        StartNode(path="first", visit=1, attempt=1),
        FinishNode(path="first", visit=1, attempt=1, outcome="completed", next="ask", output=1),
    )
    request = ask_at(scene)
    child = scene.ask(AnswerRequest(request=request, value=1))
    assert isinstance(child, Applied)
    (held,) = scene.rows(RESERVATIONS, session="s-1")
    assert held.run_id == child.value


def test_what_cannot_be_queued_leaves_the_parent_as_it_was(scene: Stage) -> None:
    """Where the child's stream is taken, nothing at all is written: the two appends are one."""
    request = at_checkpoint(scene)
    taken = RunQueued(workflow="flow", reference="x", definition=FLOW.digest, root=child_id(request), max_steps=1)
    settled(scene.log.transact(lambda tx: tx.append(f"run/{child_id(request)}", NEW, [taken], actor="test")))
    before, head = scene.row(RUNS, ONE), scene.log.head()
    refused = scene.ask(AnswerRequest(request=request, value=1))
    assert isinstance(refused, Conflict)
    assert refused.code == "key_reused"
    assert scene.log.head() == head
    assert scene.row(RUNS, ONE) == before
    assert scene.row(REQUESTS, request).state == "open"


def test_of_many_answers_one_wins(scene: Stage) -> None:
    """C53: raced answers make one child; equal ones adopt it, others are told which run carries on."""
    request = at_checkpoint(scene)
    raced = [
        scene.transitions.command(scene.caller(), AnswerRequest(request=request, value=number % 2))
        for number in range(20)
    ]
    wait(raced)
    results = [each.result() for each in raced]
    child = child_id(request)
    assert [type(each) for each in results].count(Applied) == 1
    assert all(each.value == child for each in results if isinstance(each, Applied | Adopted))
    refused = [each for each in results if isinstance(each, Conflict)]
    assert {(each.code, each.evidence["last"]) for each in refused} == {("already_terminal", child)}
    assert scene.types(child).count("run.queued") == 1
    assert scene.types().count("run.continued") == 1


def test_a_repeat_with_its_key_adopts_and_another_value_is_refused(scene: Stage) -> None:
    """A receipt is checked before anything else."""
    request = at_checkpoint(scene)
    first = scene.ask(AnswerRequest(request=request, value=1), key="k")
    again = scene.ask(AnswerRequest(request=request, value=1), key="k")
    assert isinstance(first, Applied)
    assert isinstance(again, Adopted)
    assert again.value == first.value
    other = scene.ask(AnswerRequest(request=request, value=2), key="k")
    assert isinstance(other, Conflict)
    assert other.code == "key_reused"


def test_a_protected_checkpoint_takes_a_persons_word_only(scene: Stage) -> None:
    """A model's answer changes nothing; a person's is accepted as a person's."""
    scene.queue(GUARDED)
    scene.claim()
    request = ask_at(scene)
    head = scene.log.head()
    refused = as_model(scene, AnswerRequest(request=request, value=1), "m")
    assert isinstance(refused, Conflict)
    assert (refused.code, scene.log.head()) == ("human_required", head)
    assert isinstance(scene.ask(AnswerRequest(request=request, value=1)), Applied)
    assert scene.row(REQUESTS, request).source == "person"


def test_changed_sources_use_no_answer_up(scene: Stage) -> None:
    """C38: refused before any write, with the old digests and the new; the answer stays to be given."""
    request = at_checkpoint(scene)
    head = scene.log.head()
    refused = scene.ask(AnswerRequest(request=request, value=1, definition="another", sources=None))
    assert isinstance(refused, RecoveryRequired)
    assert (refused.reason, refused.evidence["new_definition"]) == ("source_changed", "another")
    assert scene.log.head() == head
    assert isinstance(scene.ask(AnswerRequest(request=request, value=1, definition=FLOW.digest)), Applied)


@pytest.mark.parametrize("end", ["cancel", "time"])
def test_an_end_closes_the_checkpoint_and_a_late_answer_is_told(scene: Stage, end: str) -> None:
    """The request ends with its run, in one append; the answer changes nothing."""
    request = at_checkpoint(scene, timeout=1_000_000)
    revision = scene.revision()
    if end == "cancel":
        assert isinstance(scene.ask(CancelRun(run_id=ONE)), Applied)
    else:
        scene.wait(2)
        assert isinstance(scene.host(FireTimer(run_id=ONE, kind="run")), Applied)
    closed = ["request.closed", "node.finished", "timer.cleared" if end == "cancel" else "timer.fired"]
    assert scene.types(after=revision)[:3] == closed
    late = scene.ask(AnswerRequest(request=request, value=1))
    assert isinstance(late, Conflict)
    assert late.code == "already_terminal"
    assert scene.rows(RUNS, kind="continue") == []


def test_pause_and_cancel_race_an_answer(scene: Stage) -> None:
    """Whatever order they come in, there is one winner and the others are told; nothing is half done."""
    for number in range(12):
        run_id = f"race-{number}"
        scene.queue(FLOW, run_id)
        worker = scene.claim(run_id)
        scene.applied(
            worker,
            StartNode(path="first", visit=1, attempt=1),
            FinishNode(path="first", visit=1, attempt=1, outcome="completed", next="ask", output=1),
        )
        request = ask_at(scene, run_id)
        commands: list[ClientCommand] = [
            AnswerRequest(request=request, value=1),
            CancelRun(run_id=run_id),
            PauseRun(run_id=run_id),
        ]
        order = commands[number % 3 :] + commands[: number % 3]
        raced = [scene.transitions.command(scene.caller(), each) for each in order]
        wait(raced)
        run, children = scene.row(RUNS, run_id), scene.rows(RUNS, parent=run_id)
        assert (run.status, len(children)) in {("continued", 1), ("cancelled", 0)}
        assert [each.state for each in scene.rows(REQUESTS, run_id=run_id)] in (["accepted"], ["closed"])


def test_an_agents_request_is_answered_where_no_worker_waits(scene: Stage) -> None:
    """The node finishes with the answer; a run at work keeps its executor, and one that is parked otherwise stays."""
    scene.queue(graph(node("first", "agent"), node("last")))
    worker = scene.claim()
    opened = OpenRequest(path="first", visit=1, attempt=1, kind="agent", prompt="?", contract={})
    _, request = scene.applied(worker, StartNode(path="first", visit=1, attempt=1), opened)
    busy = scene.ask(AnswerRequest(request=request, value="a"))
    assert isinstance(busy, Conflict)
    assert (busy.code, busy.evidence["request"], busy.evidence["node"]) == ("still_live", request, "first")
    scene.applied(worker, ParkRun(reason="environment_missing"))
    result = scene.ask(AnswerRequest(request=request, value="a"))
    assert isinstance(result, Applied)
    assert (result.value, scene.row(VISITS, ONE, "first").outcome) == (ONE, "completed")
    queue = scene.row(QUEUE, ONE)
    assert (queue.reason, queue.eligible) == ("environment_missing", False)
    assert isinstance(scene.ask(ResumeRun(run_id=ONE)), Applied)
    assert scene.row(QUEUE, ONE).eligible


def test_a_continuation_whose_launch_goes_wrong_parks(scene: Stage) -> None:
    """Its chain has started: changed sources park it, a vanished worker does, and a resume begins it again."""
    child = str(scene.ask(AnswerRequest(request=at_checkpoint(scene), value=1)).value)  # type: ignore[union-attr]
    worker = scene.claim(child, ready=False)
    scene.applied(worker, ParkRun(reason="source_changed", code="source_changed"), ExitWorker(outcome="failed"))
    run, queue = scene.row(RUNS, child), scene.row(QUEUE, child)
    assert (run.status, run.started_at, queue.state, queue.reason) == ("running", None, "parked", "source_changed")
    resumed = scene.ask(ResumeRun(run_id=child, definition=FLOW.digest))
    assert isinstance(resumed, Applied)
    worker = scene.claim(child, ready=False)
    assert worker.generation == 2
    scene.host(RecordExit(run_id=child, worker=worker.worker, outcome="crashed"))
    assert scene.row(QUEUE, child).reason == "worker_no_progress"
    assert isinstance(scene.ask(PauseRun(run_id=child)), Applied)
    assert isinstance(scene.ask(CancelRun(run_id=child)), Applied)


def test_a_parked_continuation_whose_launch_is_put_back_is_queued_in_every_row(scene: Stage) -> None:
    """It never started: status and queue state go back together, whatever it was parked for in between."""
    child = str(scene.ask(AnswerRequest(request=at_checkpoint(scene), value=1)).value)  # type: ignore[union-attr]
    scene.applied(scene.claim(child, ready=False), ParkRun(reason="source_changed"), ExitWorker(outcome="failed"))
    scene.ask(ResumeRun(run_id=child, definition=FLOW.digest))
    worker = scene.claim(child, ready=False)
    scene.host(RecordExit(run_id=child, worker=worker.worker, outcome="orphaned"))
    run, queue = scene.row(RUNS, child), scene.row(QUEUE, child)
    assert (run.status, queue.state, queue.eligible) == ("queued", "queued", True)
    scene.claim(child)
    assert scene.row(RUNS, child).status == "running"


def test_a_continuation_that_nobody_can_drive_keeps_its_place_in_the_queue(scene: Stage) -> None:
    """Like any run that was never claimed: a typed refusal without a trace; once claimed, its worker parks it."""
    child = str(scene.ask(AnswerRequest(request=at_checkpoint(scene), value=1)).value)  # type: ignore[union-attr]
    before = scene.log.head()
    for reason in ("environment_missing", "source_changed"):
        result = scene.host(ParkIdleRun(run_id=child, reason=reason))
        assert result == Conflict("not_started", {"run": child, "queue": "queued"})
    assert scene.log.head() == before
    scene.claim(child)
