"""What is no text where a text belongs is refused at the edge, typed and by name, and nothing is written."""

from typing import Any

import pytest

from runwright.engine.commands.client import AnswerRequest, Caller, CancelRun, ResolveEffect, RestartRun, ResumeRun
from runwright.engine.commands.session import AttachSession, QueueFollowUp, ReportSession
from runwright.engine.results import Applied, Conflict
from support.graphs import graph, node
from support.stage import Stage, queue_command, settled

FLOW = graph(node("one"))
HALF = "\udcff"


@pytest.mark.parametrize("wrong", [5, ["a"], b"a", HALF], ids=["number", "list", "bytes", "half a pair"])
def test_every_text_of_a_command_is_checked_before_anything_is_read(scene: Stage, wrong: Any) -> None:
    """IDs, sessions, nodes, reasons, keys: whichever it is, the refusal names it."""
    scene.queue(FLOW)
    head = scene.log.head()
    commands: list[tuple[str, Any]] = [
        ("session", queue_command(FLOW, "run-2", session=wrong)),
        ("run_id", CancelRun(run_id=wrong)),
        ("reason", CancelRun(run_id="run-1", reason=wrong)),
        ("at", RestartRun(run_id="run-1", new_run_id="run-2", at=wrong)),
        ("run_id", RestartRun(run_id=wrong, new_run_id="run-2", at="one")),
        ("sources", ResumeRun(run_id="run-1", sources=wrong)),
        ("effect", ResolveEffect(effect=wrong, resolution="done", reason="r")),
        ("request", AnswerRequest(request=wrong, value=1)),
        ("text", QueueFollowUp(run_id="run-1", session="s1", epoch="e", text=wrong)),
    ]
    for name, command in commands:
        refused = scene.ask(command)
        assert isinstance(refused, Conflict), command
        assert (refused.code, refused.evidence["path"]) == ("input_invalid", name)
    for command in (
        AttachSession(session=wrong, agent="pi"),
        ReportSession(session="s1", epoch=wrong, idle=True, nothing_pending=True),
    ):
        assert isinstance(settled(scene.transitions.session(command)), Conflict)
    caller = Caller(client="cli", key=wrong, actor="client:cli")
    refused = settled(scene.transitions.command(caller, CancelRun(run_id="run-1")))
    assert isinstance(refused, Conflict)
    assert refused.evidence["path"] == "key"
    assert scene.log.head() == head


def test_what_may_be_missing_may_be_missing(scene: Stage) -> None:
    """No session, no node and no digest are no mistakes; any text that the store can hold is one."""
    scene.queue(FLOW, session=None)
    assert isinstance(scene.ask(CancelRun(run_id="run-1", reason="weil é und 𝄞")), Applied)
