"""What a run says to its session, and what it takes from the session's own words: notifications, visible answers."""

from typing import Any

import pytest
from attrs import evolve

from runwright.engine.commands.client import CancelRun, PauseRun
from runwright.engine.commands.worker import (
    AskSession,
    CompleteRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    QueueNotification,
    StartNode,
)
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.values import Json
from runwright.projections.control.messages import MESSAGES, MessageRow
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.turns import TURNS
from support.graphs import graph, node
from support.scripted_session import ScriptedSession
from support.stage import Stage, settled

TELL = evolve(node("tell", "notify"), notice="final")
TELLING = graph(TELL, node("end"))
TALKING = graph(node("say", "assistant"), node("end"))
DONE: dict[str, Any] = {"visit": 1, "attempt": 1, "outcome": "completed"}


def body(scene: Stage, message: MessageRow) -> str:
    """What a message says."""
    recorded = settled(scene.log.transact(lambda tx: tx.event(message.content)))
    assert recorded is not None
    return recorded.body or ""


def telling(scene: Stage) -> ScriptedSession:
    """A session whose run is at its notification."""
    session = ScriptedSession(scene)
    scene.queue(TELLING, session="s1")
    session.settle()
    scene.applied(scene.claim(), StartNode(path="tell", visit=1, attempt=1))
    return session


def notify(text: str = "Half done") -> QueueNotification:
    """The notification."""
    return QueueNotification(path="tell", visit=1, attempt=1, text=text)


# --- notifications ------------------------------------------------------------------------------------------------


def test_a_notification_is_queued_with_the_nodes_end(scene: Stage) -> None:
    """One append; it starts no turn, and reaches the session though the run is over by then."""
    pi = telling(scene)
    (told, _) = scene.applied(scene.last, notify(), FinishNode(path="tell", **DONE))
    (message,) = scene.rows(MESSAGES)
    assert (message.message, message.kind, message.starts_turn) == (told, "notification", False)
    assert '"kind":"final"' in body(scene, message)
    assert "Half done" in body(scene, message)
    events = {each.type: each.at for each in scene.log.read("run/run-1")}
    assert events["message.queued"] == events["node.finished"]
    scene.applied(
        scene.last, StartNode(path="end", visit=1, attempt=1), FinishNode(path="end", **DONE, output=1), CompleteRun()
    )
    handed = pi.receive()
    assert (handed.message, handed.starts_turn) == (told, False)


def test_a_visit_tells_one_thing(scene: Stage) -> None:
    """A node that runs again after a crash adopts what it told, whatever it would say now."""
    telling(scene)
    (first,) = scene.applied(scene.last, notify())
    (again,) = scene.tell(scene.last, notify("Something else"))
    assert isinstance(again, Adopted)
    assert again.value == first
    assert len(scene.rows(MESSAGES)) == 1


def test_a_committed_notification_outlives_a_cancel(scene: Stage) -> None:
    """It is only told, and nothing that the run still does."""
    pi = telling(scene)
    scene.applied(scene.last, notify(), FinishNode(path="tell", **DONE))
    scene.ask(CancelRun(run_id="run-1"))
    assert pi.receive().message.startswith("notification:")


def test_what_is_no_notification_is_refused(scene: Stage) -> None:
    """Of another attempt, too long, or where there is no session."""
    telling(scene)
    for wrong, code in (
        (evolve(notify(), visit=2), "protocol_rejected"),
        (notify("x" * 70_000), "payload_too_large"),
    ):
        (refused,) = scene.tell(scene.last, wrong)
        assert isinstance(refused, Conflict)
        assert refused.code == code
    scene.queue(TELLING, "alone")
    scene.applied(scene.claim("alone"), StartNode(path="tell", visit=1, attempt=1))
    (refused,) = scene.tell(scene.last, notify())
    assert isinstance(refused, Conflict)
    assert refused.evidence["rule"] == "no_session"


def test_a_checkpoint_shows_in_its_session(scene: Stage) -> None:
    """Nobody would know of it otherwise; it starts no turn, and its answer takes it back."""
    pi = ScriptedSession(scene)
    scene.queue(graph(node("ask", "checkpoint"), node("end")), session="s1")
    pi.settle()
    opened = OpenRequest(path="ask", visit=1, attempt=1, kind="checkpoint", prompt="May it?", contract={})
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), opened, ParkRun(reason="waiting"))
    (message,) = scene.rows(MESSAGES)
    assert (message.kind, message.starts_turn, message.source) == ("decision", False, scene.rows(REQUESTS)[0].request)
    assert "May it?" in body(scene, message)
    assert not pi.receive().starts_turn


# --- visible answers ----------------------------------------------------------------------------------------------


@pytest.fixture
def talking(scene: Stage) -> ScriptedSession:
    """A session whose next visible answer its run waits for."""
    session = ScriptedSession(scene)
    scene.queue(TALKING, session="s1")
    session.settle()
    contract: Json = {"type": "string", "maxLength": 5}
    ask = AskSession(path="say", visit=1, attempt=1, kind="assistant", prompt="Say it", contract=contract)
    scene.applied(scene.claim(), StartNode(path="say", visit=1, attempt=1), ask)
    return session


def test_the_visible_answer_of_its_turn_is_taken(scene: Stage, talking: ScriptedSession) -> None:
    """Up to the bound, in characters; the evidence keeps all of it, by entry, digest and length."""
    message = talking.receive().message
    talking.begin(message, turn="t1")
    assert isinstance(talking.end(message, "completed", turn="t1", entry="e7", text="Grüße an alle"), Applied)
    (finished,) = [each.event for each in scene.log.read("run/run-1") if isinstance(each.event, NodeFinished)]
    assert finished.output is not None
    assert finished.output.value == "Grüße"
    turn = scene.row(TURNS, "t1")
    assert (turn.entry, turn.length, len(turn.digest or "")) == ("e7", 15, 64)
    assert scene.row(QUEUE, "run-1").cause == "answer"
    assert isinstance(talking.end(message, "completed", turn="t1", entry="e7", text="Grüße an alle"), Adopted)


@pytest.mark.parametrize("shown", [{}, {"entry": "e"}, {"entry": "e", "text": " \n"}, {"text": "unseen"}])
def test_a_turn_without_a_visible_answer_is_unproductive(
    scene: Stage, talking: ScriptedSession, shown: dict[str, str]
) -> None:
    """A blank one is none, and neither is one that no entry shows; the third ends the attempt."""
    for number in range(3):
        message = talking.receive().message
        talking.begin(message)
        talking.end(message, "completed", **shown)
        assert scene.rows(REQUESTS)[0].unproductive == min(number + 1, 2)
    (finished,) = [each.event for each in scene.log.read("run/run-1") if isinstance(each.event, NodeFinished)]
    assert finished.code == "missing_submission"


def test_an_answer_under_a_pause_is_not_taken(scene: Stage, talking: ScriptedSession) -> None:
    """The resume asks anew."""
    message = talking.receive().message
    talking.begin(message)
    scene.ask(PauseRun(run_id="run-1"))
    talking.end(message, "completed", entry="e", text="Hello")
    assert scene.rows(REQUESTS)[0].state == "open"


def test_a_step_that_never_had_its_turn_is_asked_for_again(scene: Stage, talking: ScriptedSession) -> None:
    """Whoever was handed it went before the turn began; the one that comes after it finds it on the branch, at rest."""
    message = talking.take().message
    talking.branch.append(message)
    talking.report(message)
    assert scene.rows(REQUESTS)[0].messages == 1
    later = ScriptedSession(scene, "s1", branch=talking.branch)
    later.report(message)
    row = scene.rows(REQUESTS)[0]
    assert (row.messages, row.unproductive) == (2, 1)
