"""Restarts as transitions: where a run comes from, how often a model may, and what stands in the way."""

from typing import Any

from runwright.engine.commands.client import AcceptedSources, Caller, CancelRun, RestartRun, ResumeRun
from runwright.engine.commands.worker import FailRun, FinishNode, ParkRun, StartNode
from runwright.engine.graph.definition import Definition
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired, Result
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.visits import VISITS
from support.following import FLOW, ONE, as_model, at_boundary, fail
from support.graphs import graph, node
from support.stage import Stage, settled


def test_a_restart_saves_where_it_comes_from(scene: Stage) -> None:
    """S36: parent, root, number and fingerprint; no step and no visit; the parent's stream takes nothing."""
    scene.queue(FLOW, value={"in": 1}, timeout=5_000_000)
    fail(scene, ONE)
    revision = scene.revision()
    result = scene.ask(RestartRun(run_id=ONE, new_run_id="run-2"))
    assert isinstance(result, Applied)
    run = scene.row(RUNS, "run-2")
    assert (run.kind, run.parent, run.root, run.restart_number, run.step_base) == ("restart", ONE, ONE, 1, 0)
    assert run.parent_fingerprint == scene.row(TERMINAL, ONE).fingerprint is not None
    assert run.input == scene.row(RUNS, ONE).input
    assert scene.rows(VISITS, run_id="run-2") == []
    assert scene.revision() == revision
    (timer,) = scene.rows(TIMERS, run_id="run-2")
    assert (timer.kind, timer.due) == ("run", scene.clock.us + 5_000_000)


def test_a_restart_stands_on_the_roots_files_or_on_those_accepted_for_its_parent(scene: Stage) -> None:
    """What is found is told by its digests, and decided here: any other files are refused, and nothing is written."""
    scene.queue(FLOW)
    scene.claim(ONE)
    scene.ask(CancelRun(run_id=ONE, reason="enough"))
    scene.ask(RestartRun(run_id=ONE, new_run_id="run-2", definition=FLOW.digest))
    scene.applied(scene.claim("run-2"), ParkRun(reason="source_changed"))
    changed = graph(*FLOW.nodes.values(), node("new"))
    accept = AcceptedSources(snapshot=changed.snapshot(), paths=None)
    assert isinstance(scene.ask(ResumeRun(run_id="run-2", definition=changed.digest, accept=accept)), Applied)
    scene.ask(CancelRun(run_id="run-2", reason="enough"))
    before = scene.log.head()
    refused = scene.ask(RestartRun(run_id="run-2", new_run_id="run-3", definition="0" * 64))
    assert isinstance(refused, RecoveryRequired)
    assert (refused.reason, refused.evidence["new_definition"]) == ("source_changed", "0" * 64)
    assert scene.log.head() == before
    for number, there in enumerate((changed, FLOW), 3):
        new = f"run-{number}"
        assert isinstance(scene.ask(RestartRun(run_id="run-2", new_run_id=new, definition=there.digest)), Applied)
        assert scene.row(RUNS, new).definition == there.digest


def test_a_model_may_not_restart_what_ends_the_same_again_and_again(scene: Stage) -> None:
    """The same fingerprint twice in the chain stops a model; a person can always restart."""
    scene.queue(FLOW, session=None)
    fail(scene, ONE)
    assert isinstance(as_model(scene, RestartRun(run_id=ONE, new_run_id="run-2"), "a"), Conflict)  # another session
    assert isinstance(_hook(scene, ONE, "run-2"), Applied)
    fail(scene, "run-2")
    refused = _hook(scene, "run-2", "run-3")
    assert isinstance(refused, RecoveryRequired)
    assert (refused.reason, refused.evidence["repeats"]) == ("restart_no_progress", 2)
    assert isinstance(scene.ask(RestartRun(run_id="run-2", new_run_id="run-3")), Applied)


def test_a_model_may_restart_a_root_three_times(scene: Stage) -> None:
    """However it ended each time: the fourth is a person's."""
    scene.queue(FLOW)
    scene.claim(ONE)
    scene.ask(CancelRun(run_id=ONE, reason="0"))
    for number in range(3):
        new = f"run-{number + 2}"
        assert isinstance(_hook(scene, ONE, new), Applied)
        scene.claim(new)
        scene.ask(CancelRun(run_id=new, reason=str(number)))
    refused = _hook(scene, "run-4", "run-5")
    assert isinstance(refused, RecoveryRequired)
    assert (refused.reason, refused.evidence["restarts"]) == ("restart_no_progress", 3)
    assert isinstance(scene.ask(RestartRun(run_id="run-4", new_run_id="run-5")), Applied)


def _hook(scene: Stage, parent: str, new: str) -> Result[Any]:
    """Restart as something that is no person and speaks for no session."""
    caller = Caller(client="hook", key=new, actor="client:hook", person=False)
    return settled(scene.transitions.command(caller, RestartRun(run_id=parent, new_run_id=new)))


def test_a_busy_session_refuses_a_restart(scene: Stage) -> None:
    """The run that holds it is named."""
    scene.queue(FLOW, session="s-1")
    at_boundary(scene)
    fail(scene, ONE)
    scene.queue(FLOW, "other", session="s-1")
    refused = scene.ask(RestartRun(run_id=ONE, new_run_id="run-2"))
    assert isinstance(refused, Conflict)
    assert (refused.code, refused.evidence["run"]) == ("session_busy", "other")
    scene.ask(CancelRun(run_id="other"))
    assert isinstance(scene.ask(RestartRun(run_id=ONE, new_run_id="run-2")), Applied)
    queue = scene.row(QUEUE, "run-2")
    assert (queue.eligible, queue.session) == (False, "s-1")  # it waits for the session's next boundary
    gone = scene.ask(RestartRun(run_id="other", new_run_id="run-3"))
    assert isinstance(gone, RecoveryRequired)
    assert gone.reason == "input_cleared"  # it never started: its input went with it


def test_a_restart_with_its_key_is_adopted(scene: Stage) -> None:
    """The same key and the same run answer the first restart, whatever ID was drawn for the second."""
    scene.queue(FLOW)
    fail(scene, ONE)
    first = scene.ask(RestartRun(run_id=ONE, new_run_id="run-2"), key="k")
    again = scene.ask(RestartRun(run_id=ONE, new_run_id="run-9"), key="k")
    assert isinstance(first, Applied)
    assert isinstance(again, Adopted)
    assert again.value == "run-2"


def test_a_restart_at_a_node_takes_the_parents_rows_as_they_were_before(scene: Stage) -> None:
    """Counts and outputs from before the node's last visit; the node's own earlier visits count on."""
    loop = Definition(
        workflow="loop",
        entry="a",
        nodes={each.path: each for each in (node("a"), node("b"))},
        then={"a": "b", "b": "a"},
    )
    scene.queue(loop)
    worker = scene.claim()
    for visit in (1, 2):
        for path, after in (("a", "b"), ("b", "a")):
            scene.applied(
                worker,
                StartNode(path=path, visit=visit, attempt=1),
                FinishNode(path=path, visit=visit, attempt=1, outcome="completed", next=after, output=visit),
            )
    scene.applied(worker, FailRun(outcome="failed", code="node_failed", phase="execute", message="x"))
    assert isinstance(scene.ask(RestartRun(run_id=ONE, new_run_id="run-2", at="b")), Applied)
    rows = {each.path: each for each in scene.rows(VISITS, run_id="run-2")}
    assert {path: row.visits for path, row in rows.items()} == {"a": 2, "b": 1}
    assert rows["a"].output == scene.row(VISITS, ONE, "a").output
    assert scene.row(RUNS, "run-2").step_base == 3
    scene.applied(scene.claim("run-2"), StartNode(path="b", visit=2, attempt=1))
