"""Law 10: inputs, prompts, outputs and tokens never appear in errors, logs, status or process titles."""

import logging
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from runwright import (
    AgentRequest,
    CallableAgent,
    Command,
    Context,
    Engine,
    EngineError,
    JsonObject,
    Uncertain,
    Workflow,
)
from runwright.engine.commands.client import CancelRun, DecideRequest, SubmitAnswer
from runwright.engine.commands.host import PresentRun
from runwright.engine.commands.worker import (
    AskPerson,
    AskSession,
    FailRun,
    FinishNode,
    QueueNotification,
    StartNode,
)
from runwright.engine.errors import InputInvalid
from runwright.engine.transitions.worker import token_hash
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.requests import REQUESTS
from support.graphs import graph, node
from support.scripted_session import ScriptedSession
from support.stage import Stage

#: One word for each private value that a run can hold.
WORDS = {
    "input": "canary-input",
    "prompt": "canary-prompt",
    "answer": "canary-answer",
    "output": "canary-output",
    "request": "canary-request",
    "exception": "canary-exception",
    "command": "canary-command",
    "reason": "canary-reason",
    "update": "canary-update",
}
CANARY = re.compile("canary")


def gossip() -> Workflow[JsonObject]:
    """A workflow that puts a word of its own into everything private."""
    workflow: Workflow[JsonObject] = Workflow("gossip")

    @workflow.agent
    def ask(ctx: Context[JsonObject]) -> str:
        ctx.update(message=WORDS["update"])
        return WORDS["prompt"]

    @workflow.compute
    def think(ctx: Context[JsonObject]) -> str:
        return WORDS["output"]

    @workflow.shell(recovery="idempotent")
    def run(ctx: Context[JsonObject]) -> Command:
        return Command(["/bin/echo", WORDS["command"]], env={"SECRET": WORDS["command"]})

    def asked(ctx: Context[JsonObject]) -> str:
        return WORDS["request"]

    @workflow.action(request=asked, recovery="manual")
    def send(ctx: Context[JsonObject], request: str) -> str:
        raise Uncertain(WORDS["exception"])

    @workflow.compute
    def fail(ctx: Context[JsonObject]) -> str:
        raise RuntimeError(WORDS["exception"])

    workflow.entry(ask)
    workflow.then(ask, think)
    workflow.then(think, run)
    workflow.then(run, send)
    workflow.then(send, fail)
    return workflow


def answer(request: AgentRequest) -> object:
    """Answer with a private word."""
    return WORDS["answer"]


@pytest.fixture
def gossiped(tmp_path: Path) -> Iterator[tuple[Engine, str]]:
    """A run that has failed after it held every kind of private value."""
    with Engine.open(tmp_path / "state", agents={"default": CallableAgent(answer)}) as engine:
        outcome = engine.run(gossip(), {"secret": WORDS["input"]})
        (effect,) = engine.effects(outcome.run_id, state="ambiguous")
        engine.resolve(effect.effect, "done", result=WORDS["output"], reason=WORDS["reason"])
        outcome = engine.wait(outcome.run_id)
        assert outcome.status == "failed"
        yield engine, outcome.run_id


def test_nothing_shown_holds_a_private_value(gossiped: tuple[Engine, str], caplog: pytest.LogCaptureFixture) -> None:
    """Status, lists, every projection, replay, control facts and the engine's own log hold none of the words."""
    engine, run_id = gossiped
    shown: list[Any] = [
        engine.status(run_id).document(),
        [each.document() for each in engine.effects()],
        engine.reader.runs().document(),
        engine.replay(run_id),
        repr(engine.wait(run_id)),
        *(engine.query(each.name).items for each in CONTROL),
        *(event.data for event in engine.events()),
        *(repr(event) for event in engine.events()),
        *(record.getMessage() for record in caplog.records if record.levelno > logging.DEBUG),
    ]
    assert [each for each in map(str, shown) if CANARY.search(each)] == []
    assert not any("token_hash" in row for row in engine.query("queue").items)


def test_exports_leave_private_values_out_unless_asked(gossiped: tuple[Engine, str]) -> None:
    """The default export holds no word; with values it holds all of them."""
    engine, _ = gossiped
    assert not [line for line in engine.export() if CANARY.search(line.decode())]
    everything = b"".join(engine.export(with_values=True)).decode()
    assert {name for name, word in WORDS.items() if word in everything} >= {
        "input", "prompt", "answer", "output", "request", "command", "reason", "update",
    }  # fmt: skip


def test_errors_hold_no_value(gossiped: tuple[Engine, str]) -> None:
    """Whatever is refused names paths, types and codes, and never the value."""
    engine, run_id = gossiped
    typed: Workflow[Any] = Workflow("typed", input=dict[str, int])
    typed.entry(typed.compute(name="node")(lambda ctx: 1))
    attempts: list[Callable[[], object]] = [
        lambda: engine.start(typed, {"a": WORDS["input"]}),
        lambda: engine.start("canary.py", {}),
        lambda: engine.cancel(run_id, reason=WORDS["reason"]),
        lambda: engine.resume(run_id),
        lambda: engine.output(run_id),
    ]
    for attempt in attempts[:1] + attempts[2:]:
        with pytest.raises(EngineError) as refused:
            attempt()
        text = f"{refused.value} {refused.value.hint} {getattr(refused.value, 'evidence', '')}"
        assert not CANARY.search(text)
    with pytest.raises(InputInvalid) as invalid:
        attempts[0]()
    assert invalid.value.path == "$.a"


def test_tokens_stand_in_the_store_as_hashes_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of the state directory holds a claim's token."""
    tokens: list[str] = []

    def watching(token: str) -> str:
        tokens.append(token)
        return token_hash(token)

    monkeypatch.setattr("runwright.engine.embedded.driver.token_hash", watching)
    with Engine.open(tmp_path / "state") as engine:
        workflow: Workflow[JsonObject] = Workflow("quiet")
        workflow.entry(workflow.compute(name="node")(lambda ctx: 1))
        engine.run(workflow, {})
    assert tokens
    files = [each.read_bytes() for each in (tmp_path / "state").rglob("*") if each.is_file()]
    assert not [each for each in files for token in tokens if token.encode() in each or bytes.fromhex(token) in each]
    with closing(sqlite3.connect(tmp_path / "state" / "log.sqlite")) as store:
        assert token_hash(tokens[0]) in str(store.execute("SELECT data FROM events").fetchall())


def test_what_is_said_in_a_session_stands_in_bodies_only(scene: Stage) -> None:
    """Prompts, follow-ups, the text of a turn, a reason, instructions: in no event's data, in no row, in no view."""
    pi = ScriptedSession(scene)
    scene.queue(graph(node("ask", "agent")), value=WORDS["input"], session="s1")
    pi.settle()
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt=WORDS["prompt"], contract=None)
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), ask)
    pi.follow_up("run-1", WORDS["request"])
    message = pi.receive().message
    pi.begin(message)
    pi.end(message, entry="e", text=WORDS["answer"])
    scene.ask(CancelRun(run_id="run-1", reason=WORDS["reason"]))
    scene.host(PresentRun(run_id="run-1", instructions=WORDS["command"]))
    recorded = list(scene.log.read_all())
    assert {name for name, word in WORDS.items() if any(word in (each.body or "") for each in recorded)} >= {
        "input", "prompt", "request", "answer", "reason", "command",
    }  # fmt: skip
    shown = [*(each.data for each in recorded), *(scene.rows(each) for each in CONTROL), pi.view()]
    assert [each for each in map(str, shown) if CANARY.search(each)] == []


def test_what_a_person_decides_stands_in_bodies_only(scene: Stage) -> None:
    """Question, facts, subject, choices, what was refused and submitted, and what a run told its session."""
    pi = ScriptedSession(scene)
    asked = evolve(node("ok", "decision"), choices=("yes",))
    scene.queue(graph(evolve(node("tell", "notify"), notice="final"), asked, node("ask", "agent")), session="s1")
    pi.settle()
    done = FinishNode(path="tell", visit=1, attempt=1, outcome="completed")
    tell = QueueNotification(path="tell", visit=1, attempt=1, text=WORDS["update"])
    question = AskPerson(
        path="ok",
        visit=1,
        attempt=1,
        title=WORDS["prompt"],
        facts={"a": WORDS["input"]},
        subject=WORDS["request"],
        choices=[{"name": "yes", "label": WORDS["command"], "text": WORDS["command"]}],
        deadline=scene.clock.us + 1,
    )
    at = {"visit": 1, "attempt": 1}
    scene.applied(scene.claim(), StartNode(path="tell", **at), tell, done, StartNode(path="ok", **at), question)
    (request,) = scene.rows(REQUESTS)
    for wrong in ({"choice": WORDS["reason"]}, {"choice": "yes", "text": WORDS["output"], "by": WORDS["answer"]}):
        scene.ask(DecideRequest(**{"request": request.request, "by": "Ada", **wrong}))
    ask = AskSession(path="ask", **at, kind="agent", prompt="p", contract=None)
    scene.applied(scene.claim(), StartNode(path="ask", **at), ask)
    (step,) = scene.rows(REQUESTS, state="open")
    scene.ask(SubmitAnswer(request=step.request, value=WORDS["exception"], session="s1", epoch=pi.epoch))
    recorded = list(scene.log.read_all())
    assert {name for name, word in WORDS.items() if any(word in (each.body or "") for each in recorded)} == set(WORDS)
    shown = [*(each.data for each in recorded), *(scene.rows(each) for each in CONTROL), pi.view()]
    assert [each for each in map(str, shown) if CANARY.search(each)] == []


def test_what_looks_like_a_secret_is_struck_out_of_what_a_worker_tells(scene: Stage) -> None:
    """Bearer values, and key, token, secret and password pairs: neither in the safe message nor in the error text."""
    scene.queue(graph(node("one")))
    text = "GET failed: Authorization: Bearer canary-1, api_key=canary-2 and password: canary-3"
    end = FailRun(outcome="failed", code="node_failed", phase="execute", message=text, error=text)
    scene.applied(scene.claim(), end)
    recorded = list(scene.log.read("run/run-1"))
    assert [each.type for each in recorded if CANARY.search(f"{each.data}{each.body}")] == []
    assert "GET failed" in recorded[-1].data


def test_the_state_directory_is_private(tmp_path: Path) -> None:
    """Folder 0700 and files 0600, a run's folder and log included."""
    workflow: Workflow[JsonObject] = Workflow("logs")

    @workflow.compute
    def node(ctx: Context[JsonObject]) -> int:
        ctx.log.info("hello")
        (ctx.scratch / "file").write_text("x")
        return 1

    workflow.entry(node)
    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.run(workflow, {}).run_id
        home = tmp_path / "state"
        folders = [home, home / "runs", home / "runs" / run_id, home / "runs" / run_id / "scratch"]
        assert {oct(each.stat().st_mode & 0o777) for each in folders} == {"0o700"}
        files = [each for each in home.iterdir() if each.is_file()] + [home / "runs" / run_id / "output.log"]
        assert {oct(each.stat().st_mode & 0o777) for each in files} == {"0o600"}
