"""Law 9: errors and instructions are text, inputs and outputs are JSON; a wrong type is the reader's error."""

from collections.abc import Callable

import pytest

from runwright.engine.commands.client import CancelRun, RestartRun
from runwright.engine.commands.host import PresentRun, TimeOutRun
from runwright.engine.commands.worker import CompleteRun, ExitWorker, FailRun, FinishNode, StartNode
from runwright.engine.results import Applied
from runwright.engine.rundata import Found, MediaTypeMismatch, Missing, Redacted, RunData, Value
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.node import NodeFinished, NodeStarted
from runwright.eventstore.events.run import RunCompleted, RunFailed
from runwright.eventstore.events.worker import PresentationPrepared
from runwright.eventstore.values import Json
from runwright.projections.control.runs import RUNS
from support.graphs import graph, node
from support.memory_log import MemoryLog
from support.scripted_session import ScriptedSession
from support.stage import Stage, TestClock

FLOW = graph(node("one"))


@pytest.fixture
def world() -> tuple[Stage, RunData, MemoryLog]:
    """A stage in memory, and the readers over it."""
    clock = TestClock()
    log = MemoryLog(clock.now)
    return Stage(log, clock), RunData(log.control, log.event), log  # type: ignore[arg-type]


def begun(scene: Stage, run_id: str = "run-1", *, value: Json = None) -> None:
    """A run of a session that is at work."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, run_id, value, session="s1")
    pi.settle()
    scene.claim(run_id)


def complete(scene: Stage, value: Json = 1) -> None:
    """End the last run with an output."""
    done = FinishNode(path="one", visit=1, attempt=1, outcome="completed", output=value)
    scene.applied(
        scene.last, StartNode(path="one", visit=1, attempt=1), done, CompleteRun(), ExitWorker(outcome="finished")
    )


def fail(scene: Stage, text: str = "why") -> None:
    """End the last run with an error text."""
    end = FailRun(outcome="failed", code="node_failed", phase="execute", message="m", error=text)
    scene.applied(scene.last, end, ExitWorker(outcome="failed"))


def tell(scene: Stage, log: MemoryLog, *events: Event) -> None:
    """Write what no decision would."""
    stream = "run/run-1"
    log.append(stream, log.version(stream), events, actor="operator")


READERS: dict[str, Callable[[RunData], Value]] = {
    "input": lambda data: data.read_run_input("run-1"),
    "output": lambda data: data.read_final_output("run-1"),
    "error": lambda data: data.read_run_error("run-1"),
    "instructions": lambda data: data.read_presentation_instructions("run-1"),
}


@pytest.mark.parametrize("value", [None, "text", 0, [1, {"a": None}], {"deep": {"er": [True]}}])
def test_inputs_and_outputs_are_json_of_every_kind(world: tuple[Stage, RunData, MemoryLog], value: Json) -> None:
    """A text is JSON, too; it is the declared type that counts."""
    scene, data, _ = world
    begun(scene, value=value)
    complete(scene, value)
    assert data.read_run_input("run-1") == Found(value)
    assert data.read_final_output("run-1") == Found(value)


def test_errors_and_instructions_are_text(world: tuple[Stage, RunData, MemoryLog]) -> None:
    """Also where the text happens to be JSON."""
    scene, data, _ = world
    begun(scene)
    fail(scene, '{"a": 1}')
    scene.host(PresentRun(run_id="run-1", instructions="[1]"))
    assert data.read_run_error("run-1") == Found('{"a": 1}')
    assert data.read_presentation_instructions("run-1") == Found("[1]")


def test_missing_is_an_answer(world: tuple[Stage, RunData, MemoryLog]) -> None:
    """Of a run that has no such value, and of one that nobody knows."""
    scene, data, _ = world
    begun(scene)
    complete(scene)
    assert data.read_run_error("run-1") == Missing("run-1", "error")
    assert data.read_presentation_instructions("run-1") == Missing("run-1", "instructions")
    for field, read in READERS.items():
        if field != "input":
            continue
        assert isinstance(read(data), Found)
    assert data.read_final_output("nowhere") == Missing("nowhere", "output")
    assert data.read_terminal_facts("nowhere") is None


@pytest.mark.parametrize("field", ["output", "error", "instructions"])
def test_a_wrong_type_names_run_and_field_and_the_end_stands(
    world: tuple[Stage, RunData, MemoryLog], field: str
) -> None:
    """It is an error of the reader; the run is as it was."""
    scene, data, log = world
    begun(scene)
    failed = RunFailed(code="node_failed", phase="execute", message="m", message_due="terminal")
    text, document = Content.text("t"), Content.json({"a": 1})
    match field:
        case "output":
            started = NodeStarted(path="one", visit=1, attempt=1, kind="compute")
            finished = NodeFinished(path="one", visit=1, attempt=1, outcome="completed", output=text)
            position = len(log.recorded) + 2
            tell(scene, log, started, finished, RunCompleted(output=position, message_due="terminal"))
            expected = MediaTypeMismatch("run-1", "output", "application/json", "text/plain")
        case "error":
            tell(scene, log, RunFailed(code="c", phase="execute", message="m", error=document))
            expected = MediaTypeMismatch("run-1", "error", "text/plain", "application/json")
        case _:
            tell(scene, log, failed, PresentationPrepared(attempt=1, instructions=document))
            expected = MediaTypeMismatch("run-1", "instructions", "text/plain", "application/json")
    assert READERS[field](data) == expected
    run = log.control.get(RUNS, "run-1")
    assert run is not None
    assert run.finished_at is not None
    assert data.read_terminal_facts("run-1") is not None


def test_what_was_erased_says_so(world: tuple[Stage, RunData, MemoryLog]) -> None:
    """Each reader answers the same; nothing raises, and the facts of the end stay."""
    scene, data, log = world
    begun(scene, value={"a": 1})
    fail(scene)
    scene.host(PresentRun(run_id="run-1", instructions="Say it."))
    log.erase([each.position for each in log.read("run/run-1") if each.body])
    for field in ("input", "error", "instructions"):
        assert READERS[field](data) == Redacted("run-1", field)
    facts = data.read_terminal_facts("run-1")
    assert facts is not None
    assert (facts.outcome, facts.code, facts.error) == ("failed", "node_failed", Redacted("run-1", "error"))


def test_ancestors_of_every_kind_are_typed_facts(world: tuple[Stage, RunData, MemoryLog]) -> None:
    """S44: completed, failed with a text, timed out, cancelled, then the last one; the nearest comes first."""
    scene, data, _ = world
    ends: list[Callable[[str], object]] = [
        lambda run_id: complete(scene, {"n": 1}),
        lambda run_id: fail(scene, "not { JSON"),
        lambda run_id: scene.host(TimeOutRun(run_id=run_id)),
        lambda run_id: scene.ask(CancelRun(run_id=run_id, reason="enough")),
        lambda run_id: complete(scene, "last"),
    ]
    pi = ScriptedSession(scene)
    scene.queue(FLOW, "run-0", session="s1")
    for number, end in enumerate(ends):
        run_id = f"run-{number}"
        if number:
            restarted = scene.ask(RestartRun(run_id=f"run-{number - 1}", new_run_id=run_id))
            assert isinstance(restarted, Applied), restarted
        pi.settle()
        scene.claim(run_id)
        end(run_id)
    facts = data.read_terminal_facts("run-4")
    assert facts is not None
    assert (facts.outcome, facts.output) == ("completed", Found("last"))
    told = [(each.run_id, each.outcome, each.code, each.output, each.error) for each in facts.ancestors]
    none = {number: (Missing(f"run-{number}", "output"), Missing(f"run-{number}", "error")) for number in range(4)}
    assert told == [
        ("run-3", "cancelled", None, none[3][0], Found("enough")),
        ("run-2", "timed_out", "run_timed_out", *none[2]),
        ("run-1", "failed", "node_failed", none[1][0], Found("not { JSON")),
        ("run-0", "completed", None, Found({"n": 1}), none[0][1]),
    ]
    result = scene.host(PresentRun(run_id="run-4"))
    assert isinstance(result, Applied)
    assert result.value == "prepared"
