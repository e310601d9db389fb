"""C85 in sessions: neither what waits nor what was said makes anything dearer, or blocks what comes behind it."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from runwright.engine.commands.client import Caller, PauseRun, ResumeRun, SubmitAnswer
from runwright.engine.commands.host import JudgeSubmission
from runwright.engine.commands.worker import AskSession, StartNode
from runwright.engine.decisions.message import QUIET
from runwright.engine.results import Applied
from runwright.engine.transitions.conversation import MOST_COUNTED, MOST_WAITING
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.message import MessageQueued
from runwright.projections.control.requests import REQUESTS
from support.costs import Cost, counting
from support.graphs import graph, node
from support.scripted_session import ScriptedSession, owned
from support.stage import Stage, settled, stage
from support.stores import appending

FLOW = graph(node("ask", "agent"), node("end"))
MANY = 10_000


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> Cost:
    """Counts what every connection does that is opened from now on."""
    return counting(monkeypatch)


@pytest.fixture
def scene(tmp_path: Path, cost: Cost) -> Iterator[Stage]:
    """A stage whose store is counted."""
    with stage(tmp_path / "home") as each:
        yield each


def asked(scene: Stage, visit: int = 1) -> None:
    """The run asks its session."""
    ask = AskSession(path="ask", visit=visit, attempt=1, kind="agent", prompt="Do it", contract={})
    scene.applied(scene.claim(), StartNode(path="ask", visit=visit, attempt=1), ask)


def waiting(scene: Stage) -> ScriptedSession:
    """A session whose run asks it, and which has shown the question."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    pi.settle()
    asked(scene)
    pi.receive()
    return pi


def queued(scene: Stage, many: int, kind: str = "notification") -> None:
    """As many messages more of the run wait."""
    for first in range(0, many, 500):
        told = [
            MessageQueued(
                message=f"{kind}:run-1:{number}",
                kind=kind,
                session="s1",
                order=10 + number,
                source="run-1",
                starts_turn=False,
                content=Content.json({"n": number}),
                text=Content.text("x"),
            )
            for number in range(first, min(first + 500, many))
        ]
        settled(scene.log.transact(appending("run/run-1", *told)))


def deliver(pi: ScriptedSession) -> str:
    """Report until a message is handed out, and show it."""
    while (current := pi.current) is not None and not current.deliver:
        pi.report(current.message)
    return pi.receive().message


def costs(pi: ScriptedSession, cost: Cost) -> list[tuple[int, int]]:
    """What a coordinator's and a person's words cost now."""
    scene, step = pi.scene, pi.branch[0]
    return [
        *(cost.of(lambda: deliver(pi)) for _ in range(3)),
        cost.of(pi.view),
        cost.of(pi.settle),
        cost.of(lambda: scene.ask(PauseRun(run_id="run-1"))),
        cost.of(lambda: scene.ask(ResumeRun(run_id="run-1"))),
        cost.of(lambda: pi.begin(step)),
        cost.of(lambda: pi.end(step)),
    ]


def test_what_waits_makes_nothing_dearer(scene: Stage, cost: Cost, tmp_path: Path) -> None:
    """Delivery, view, report, pause, resume and turns cost the same with 10,000 messages in line as with 200."""
    with stage(tmp_path / "other") as other:
        found = []
        for each, many in ((other, 200), (scene, MANY)):
            pi = waiting(each)
            queued(each, many)
            deliver(pi)
            assert pi.view().pending == MOST_COUNTED
            found.append(costs(pi, cost))
    for few, lots in zip(*found, strict=True):
        assert lots[0] == few[0]
        assert lots[1] <= few[1] * 1.2 + 5, found


def test_what_was_said_makes_nothing_dearer(scene: Stage, cost: Cost) -> None:
    """The three-hundredth step that a run puts to its session costs what the tenth did: question, turn, answer, all."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    pi.settle()
    found = [cost.of(partial(_step, pi, visit)) for visit in range(1, 301)]
    early, late = ([sum(each) for each in zip(*part, strict=True)] for part in (found[10:50], found[260:]))
    assert late[0] <= early[0] * 1.02 + 5, (early, late)
    assert late[1] <= early[1] * 1.1 + 20, (early, late)


def _step(pi: ScriptedSession, visit: int) -> None:
    scene = pi.scene
    asked(scene, visit)
    message = pi.receive().message
    assert owned(pi.begin(message)) == "active"
    request = message.split(":")[1]
    caller = Caller(client="pi:s1", key=f"k{visit}", actor="client:pi:s1", person=False)
    submit = SubmitAnswer(request=request, value="done", session="s1", epoch=pi.epoch)
    assert isinstance(settled(scene.transitions.command(caller, submit)), Applied)
    row = scene.row(REQUESTS, request)
    judge = JudgeSubmission(run_id="run-1", request=request, submission=row.submission or "", output="done")
    assert isinstance(scene.host(judge), Applied)
    pi.end(message)
    pi.settle()


@pytest.mark.parametrize("kind", ["notification", "terminal"])
def test_what_cannot_be_handed_out_any_more_blocks_nobody(scene: Stage, kind: str) -> None:
    """More messages than are looked at were handed out as often as they may be, and never arrived; the next one is."""
    pi = waiting(scene)
    lost = 2 * MOST_WAITING + 1
    queued(scene, lost + 1, kind)
    for _ in range(2 * lost):
        handed = _handed(pi)
        assert handed != f"{kind}:run-1:{lost}"
        scene.wait(QUIET + 1)
        pi.report(handed)
    assert deliver(pi) == f"{kind}:run-1:{lost}"
    assert pi.current is None


def _handed(pi: ScriptedSession) -> str:
    """Be handed the next message, and show nothing of it."""
    while (current := pi.current) is not None and not current.deliver:
        pi.report(current.message)
    assert current is not None
    result = pi.deliver(current.message)
    assert isinstance(result, Applied), result
    return current.message
