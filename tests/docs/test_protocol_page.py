"""Is what the protocol's page shows what a host reads and sends?"""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.commands.client import CancelRun, DecideRequest
from runwright.engine.commands.host import PresentRun
from runwright.engine.commands.worker import AskPerson, AskSession, FinishNode, QueueNotification, StartNode
from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.bounds import MOST_CALLS, MOST_CONNECTIONS, MOST_SUBSCRIPTIONS
from runwright.engine.protocol.envelopes import Call, Reply, unwrap
from runwright.engine.protocol.fields import load
from runwright.engine.protocol.limits import MAX_CALL, MOST_ITEMS, PART
from runwright.engine.protocol.operations import OPERATIONS
from runwright.engine.protocol.place import MOST_BYTES
from runwright.engine.wire.frames import MAX_FRAME
from runwright.eventstore.events.message import MessageQueued
from runwright.projections.control.requests import REQUESTS
from support.ended_runs import failed_launch
from support.graphs import graph, node
from support.scripted_session import ScriptedSession
from support.stage import Stage, stage

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "protocol.md").read_text(encoding="utf-8")
LINES = re.findall(r"^[→←] (\{.*\})$", PAGE, re.MULTILINE)
WHOLE = [line for line in LINES if "…" not in line]
MADE = runpy.run_path(str(DOCS / "protocol_page.py"))
CONTENTS: dict[str, tuple[str, str, str]] = MADE["CONTENTS"]
HOLDS: dict[str, dict[str, tuple[str, str]]] = MADE["HOLDS"]
#: What the forms of the table stand for.
FORMS: dict[str, type] = {
    "text": str, "number": int, "boolean": bool, "object": dict, "list": list, "null": type(None), "any": object,
}  # fmt: skip
#: Which operation each reply that is shown is about.
REPLIES: dict[str, str] = dict(
    re.findall(r'^→ \{"type": "call", "call_id": "(\d+)", .*"operation": "([a-z.]+)"', PAGE, re.M)
)


@pytest.mark.parametrize("line", WHOLE, ids=range(len(WHOLE)))
def test_what_travels_is_what_a_host_would_have(line: str) -> None:
    """Each line of it is an envelope, each call fits its operation, and each answer the class it names."""
    envelope: Any = unwrap(json.loads(line))
    match envelope:
        case Call():
            Asked.of(envelope)
        case Reply(call_id=str(call_id), answer=answer) if answer is not None:
            load(OPERATIONS[REPLIES[call_id]].answer, answer)
        case _:
            pass


def test_the_session_shows_every_envelope() -> None:
    """Hello, call, reply and event all stand in it."""
    assert {re.match(r'\{"type": "(\w+)"', line).group(1) for line in LINES} == {"hello", "call", "reply", "event"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "bound",
    [
        f"{MAX_FRAME:,} bytes",
        f"pieces of {PART:,}",
        f"at most {MAX_CALL // 2**20} MiB",
        f"at most {MOST_ITEMS} items",
        f"takes {MOST_CONNECTIONS}",
        f"Up to {MOST_CALLS} calls",
        f"has {MOST_SUBSCRIPTIONS} of them",
        f"{MOST_BYTES}",
    ],
)
def test_bounds_are_the_ones_that_hold(bound: str) -> None:
    """Every bound in words is that of the code."""
    assert bound in " ".join(PAGE.split())


def test_contents_of_messages_are_the_ones_that_runs_write(tmp_path: Path) -> None:
    """Every kind of message, with the fields that its content has, and whether it starts a turn."""
    with stage(tmp_path / "home") as scene:
        failed_launch(scene, "run-0")
        scene.host(PresentRun(run_id="run-0"))
        say_everything(scene)
        messages = [each.event for each in scene.log.read_all() if isinstance(each.event, MessageQueued)]
    for each in messages:
        assert each.content is not None
        held: Any = each.content.value
        named, starts, _ = CONTENTS[each.kind]
        assert (held["schema"], each.starts_turn) == (named, starts != "no")
        fields = HOLDS["*"] | HOLDS[each.kind]
        assert held.keys() == fields.keys()
        for name, (form, _) in fields.items():
            assert isinstance(held[name], tuple(FORMS[word] for word in form.split(" or "))), (each.kind, name)
    assert {each.kind for each in messages} == CONTENTS.keys() == HOLDS.keys() - {"*"}


def say_everything(scene: Stage) -> None:
    """A run that tells its session something, asks a person and the model, and ends with instructions."""
    at: dict[str, Any] = {"visit": 1, "attempt": 1}
    pi = ScriptedSession(scene)
    scene.queue(graph(node("tell", "notify"), node("ok", "decision"), node("ask", "agent")), session="s1")
    pi.follow_up("run-1", "And then?")
    pi.settle()
    scene.applied(
        scene.claim(),
        StartNode(path="tell", **at),
        QueueNotification(path="tell", **at, text="Half done"),
        FinishNode(path="tell", **at, outcome="completed"),
        StartNode(path="ok", **at),
        AskPerson(
            path="ok",
            **at,
            title="Ship it?",
            facts={},
            subject={},
            choices=[{"name": "yes", "label": "", "text": None}],
        ),
    )
    (request,) = scene.rows(REQUESTS)
    scene.ask(DecideRequest(request=request.request, choice="yes", by="Ada"))
    ask = AskSession(path="ask", **at, kind="agent", prompt="p", contract=None)
    scene.applied(scene.claim(), StartNode(path="ask", **at), ask)
    scene.ask(CancelRun(run_id="run-1"))
    scene.host(PresentRun(run_id="run-1", instructions="Say it."))
