"""A follow-up waits for the end of its whole chain: kept by a completion, cancelled in the transaction of any other."""

from collections.abc import Callable

import pytest

from runwright.engine.commands.client import AnswerRequest, CancelRun
from runwright.engine.commands.host import FireTimer, TimeOutRun
from runwright.engine.commands.worker import (
    CompleteRun,
    ExitWorker,
    FailRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    StartNode,
)
from runwright.engine.results import Applied
from runwright.projections.control.messages import MESSAGES
from support.graphs import graph, node
from support.scripted_session import ScriptedSession
from support.stage import Stage

BAD = ("run.cancelled", "run.failed", "run.timed_out")
FLOW = graph(node("ask", "checkpoint"), node("again", "checkpoint"), node("last"))


def chain(scene: Stage) -> tuple[ScriptedSession, list[str]]:
    """Three runs of one chain in a session, the last one ready to begin; each has a follow-up, and so has another's."""
    other = ScriptedSession(scene, "s2")
    scene.queue(FLOW, "other", session="s2")
    other.follow_up("other", "Elsewhere")
    other.settle()
    pi = ScriptedSession(scene)
    runs = [scene.queue(FLOW, session="s1", timeout=60_000_000)]
    pi.settle()
    for path in ("ask", "again"):
        pi.follow_up(runs[-1], "And then?")
        values = scene.applied(
            scene.claim(runs[-1]),
            StartNode(path=path, visit=1, attempt=1),
            OpenRequest(path=path, visit=1, attempt=1, kind="checkpoint", prompt="Go on?", contract={}),
            ParkRun(reason="waiting"),
            ExitWorker(outcome="parked"),
        )
        answered = scene.ask(AnswerRequest(request=str(values[1]), value=1))
        assert isinstance(answered, Applied)
        runs.append(str(answered.value))
    pi.follow_up(runs[-1], "At last")
    return pi, runs


def states(scene: Stage) -> dict[str, set[str]]:
    """How the follow-ups of each session stand."""
    found: dict[str, set[str]] = {}
    for each in scene.rows(MESSAGES, kind="follow_up"):
        found.setdefault(each.session, set()).add(each.state)
    return found


def cancelled(scene: Stage, run_id: str) -> None:
    """Somebody ends the run."""
    assert isinstance(scene.ask(CancelRun(run_id=run_id)), Applied)


def failed(scene: Stage, run_id: str) -> None:
    """Its worker does."""
    scene.applied(scene.claim(run_id), FailRun(outcome="failed", code="node_failed", phase="execute", message="m"))


def timed_out(scene: Stage, run_id: str) -> None:
    """Its holder does."""
    assert isinstance(scene.host(TimeOutRun(run_id=run_id)), Applied)


def out_of_time(scene: Stage, run_id: str) -> None:
    """Its timer does."""
    scene.wait(100)
    assert isinstance(scene.host(FireTimer(run_id=run_id, kind="run")), Applied)


@pytest.mark.parametrize("end", [cancelled, failed, timed_out, out_of_time], ids=lambda end: end.__name__)
def test_a_bad_end_cancels_the_follow_ups_of_the_whole_chain(scene: Stage, end: Callable[[Stage, str], None]) -> None:
    """In one transaction with the end, before any report of the session; another session's stay."""
    pi, runs = chain(scene)
    end(scene, runs[-1])
    assert states(scene) == {"s1": {"cancelled"}, "s2": {"pending"}}
    dropped = [each for each in scene.log.read_all() if each.type == "message.cancelled"]
    closed = [each for each in dropped if each.event.cause != "answered"]  # type: ignore[attr-defined]
    assert {each.stream for each in closed} == {f"run/{each}" for each in runs}
    (ended,) = [each for each in scene.log.read(f"run/{runs[-1]}") if each.type in BAD]
    assert {each.at for each in closed} == {ended.at}
    written = [each.position for each in (*closed, ended)]
    assert max(written) - min(written) < 12, "one transaction writes them side by side"
    head = scene.log.head()
    assert pi.settle().touched == ()
    assert scene.log.head() == head


def test_a_completion_keeps_the_follow_ups_of_the_whole_chain(scene: Stage) -> None:
    """They are handed out one after another, oldest first."""
    pi, runs = chain(scene)
    scene.applied(
        scene.claim(runs[-1]),
        StartNode(path="last", visit=1, attempt=1),
        FinishNode(path="last", visit=1, attempt=1, outcome="completed", output=1),
        CompleteRun(),
    )
    assert states(scene) == {"s1": {"pending"}, "s2": {"pending"}}
    # Each checkpoint's question stands between two follow-ups.
    messages = {run_id: f"follow_up:{run_id}:{number}" for run_id, number in zip(runs, (1, 3, 5), strict=True)}
    for message in messages.values():
        pi.report(message)
    for run_id, message in messages.items():
        assert pi.work(run=run_id) == message
