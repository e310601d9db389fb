"""Restarts at a node whose last visit stands in a run further up: a continued chain, or an earlier restart."""

import pytest

from runwright.engine.commands.client import AnswerRequest, CancelRun, RestartRun
from runwright.engine.commands.worker import CompleteRun, ExitWorker, FinishNode, OpenRequest, ParkRun, StartNode
from runwright.engine.results import Applied, Conflict
from runwright.projections.control.runs import RUNS
from runwright.projections.control.visits import VISITS
from support.graphs import graph, node
from support.stage import Stage

FLOW = graph(node("first"), node("ask", "checkpoint"), node("last"))

#: Each place, what had finished before the chain last came to it, and the steps used by then.
PLACES = [("first", set(), 0), ("ask", {"first"}, 1), ("last", {"first", "ask"}, 2)]


def continued(scene: Stage) -> str:
    """A chain of two runs that completed; answer the second, which came to nothing but the last node itself."""
    scene.queue(FLOW, "root")
    worker = scene.claim("root")
    values = scene.applied(
        worker,
        StartNode(path="first", visit=1, attempt=1),
        FinishNode(path="first", visit=1, attempt=1, outcome="completed", next="ask", output=1),
        StartNode(path="ask", visit=1, attempt=1),
        OpenRequest(path="ask", visit=1, attempt=1, kind="checkpoint", prompt="Go on?", contract={}),
        ParkRun(reason="waiting"),
        ExitWorker(outcome="parked"),
    )
    answered = scene.ask(AnswerRequest(request=str(values[3]), value=2))
    assert isinstance(answered, Applied)
    child = str(answered.value)
    finish(scene, child)
    return child


def finish(scene: Stage, run_id: str) -> None:
    """Let a run that begins at the last node complete."""
    scene.applied(
        scene.claim(run_id),
        StartNode(path="last", visit=1, attempt=1),
        FinishNode(path="last", visit=1, attempt=1, outcome="completed", output=3),
        CompleteRun(),
    )


def restart(scene: Stage, parent: str, new: str, at: str) -> None:
    """Restart a run at a node."""
    result = scene.ask(RestartRun(run_id=parent, new_run_id=new, at=at))
    assert isinstance(result, Applied), result


def check(scene: Stage, new: str, chain: str, taken: set[str], steps: int) -> None:
    """Hold what a run took over against how its chain stood before the node."""
    rows = {each.path: each for each in scene.rows(VISITS, run_id=new)}
    assert set(rows) == taken
    assert scene.row(RUNS, new).step_base == steps
    for path, row in rows.items():
        assert (row.visits, row.output) == (1, scene.row(VISITS, chain, path).output)
        assert row.output is not None


@pytest.mark.parametrize(("at", "taken", "steps"), PLACES)
def test_a_continued_chain_is_restarted_at_any_of_its_nodes(scene: Stage, at: str, taken: set[str], steps: int) -> None:
    """Also at one that finished before the checkpoint, and at the checkpoint, which is asked again."""
    chain = continued(scene)
    restart(scene, chain, "new", at)
    check(scene, "new", chain, taken, steps)
    scene.applied(scene.claim("new"), StartNode(path=at, visit=1, attempt=1))


@pytest.mark.parametrize(("at", "taken", "steps"), PLACES)
def test_a_restart_at_a_node_is_itself_restarted_at_any(scene: Stage, at: str, taken: set[str], steps: int) -> None:
    """What it took over stands further up, whether it came to its own first node or was cancelled before."""
    chain = continued(scene)
    restart(scene, chain, "ran", "last")
    finish(scene, "ran")
    restart(scene, "ran", "of-ran", at)
    check(scene, "of-ran", chain, taken, steps)
    scene.ask(CancelRun(run_id="of-ran"))
    restart(scene, "of-ran", "of-cancelled", at)
    check(scene, "of-cancelled", chain, taken, steps)


def test_a_node_that_no_run_of_the_chain_came_to_is_refused(scene: Stage) -> None:
    """There is nothing to take over for it, and nothing is written."""
    chain = continued(scene)
    restart(scene, chain, "early", "first")
    scene.ask(CancelRun(run_id="early"))
    head = scene.log.head()
    refused = scene.ask(RestartRun(run_id="early", new_run_id="new", at="last"))
    assert isinstance(refused, Conflict)
    assert (refused.code, refused.evidence["what"], scene.log.head()) == ("not_found", "visit of node", head)
