"""The typed readers of a run's values (law 9)."""

import pytest

from runwright.engine.commands.client import CancelRun
from runwright.engine.commands.worker import CompleteRun, FailRun, FinishNode, StartNode
from runwright.engine.rundata import Found, MediaTypeMismatch, Missing, Redacted, RunData
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.run import RunFailed
from runwright.projections.control.runs import RUNS
from support.graphs import graph, node
from support.memory_log import MemoryLog
from support.stage import Stage, TestClock

FLOW = graph(node("one"))


@pytest.fixture
def scene() -> tuple[Stage, RunData, MemoryLog]:
    """A stage in memory, and the readers over it."""
    clock = TestClock()
    log = MemoryLog(clock.now)
    return Stage(log, clock), RunData(log.control, log.event), log  # type: ignore[arg-type]


def test_a_completed_run_has_an_output_and_no_error(scene: tuple[Stage, RunData, MemoryLog]) -> None:
    """Input and output are JSON, ``null`` included."""
    stage, data, _ = scene
    stage.queue(FLOW, value={"a": 1})
    done = FinishNode(path="one", visit=1, attempt=1, outcome="completed", output=None)
    stage.applied(stage.claim(), StartNode(path="one", visit=1, attempt=1), done, CompleteRun())
    assert data.read_run_input("run-1") == Found({"a": 1})
    assert data.read_final_output("run-1") == Found(None)
    assert data.read_run_error("run-1") == Missing("run-1", "error")
    assert data.read_presentation_instructions("run-1") == Missing("run-1", "instructions")
    facts = data.read_terminal_facts("run-1")
    assert facts is not None
    assert (facts.outcome, facts.ancestors) == ("completed", ())


def test_a_failed_run_has_an_error_text(scene: tuple[Stage, RunData, MemoryLog]) -> None:
    """The safe facts and the text stand apart."""
    stage, data, _ = scene
    stage.queue(FLOW)
    stage.applied(stage.claim(), FailRun(outcome="failed", code="node_failed", phase="execute", message="m", error="e"))
    facts = data.read_terminal_facts("run-1")
    assert facts is not None
    assert (facts.outcome, facts.code, facts.message, facts.error) == ("failed", "node_failed", "m", Found("e"))
    assert facts.output == Missing("run-1", "output")


def test_erased_values_are_redacted_and_the_end_stands(scene: tuple[Stage, RunData, MemoryLog]) -> None:
    """A typed answer, never an exception."""
    stage, data, log = scene
    stage.queue(FLOW, value="x")
    stage.ask(CancelRun(run_id="run-1", reason="why"))
    assert data.read_run_input("run-1") == Redacted("run-1", "input")
    assert data.read_run_error("run-1") == Found("why")
    log.erase([each.position for each in log.read("run/run-1") if each.body])
    facts = data.read_terminal_facts("run-1")
    assert facts is not None
    assert (facts.outcome, facts.error) == ("cancelled", Redacted("run-1", "error"))


def test_another_media_type_is_an_error_of_the_reader(scene: tuple[Stage, RunData, MemoryLog]) -> None:
    """It names run and field; the run's state stands."""
    stage, data, log = scene
    stage.queue(FLOW)
    stage.claim()
    failed = RunFailed(code="node_failed", phase="execute", message="m", error=Content.json({"a": 1}))
    log.append("run/run-1", log.version("run/run-1"), (failed,), actor="operator")
    assert data.read_run_error("run-1") == MediaTypeMismatch("run-1", "error", "text/plain", "application/json")
    row = log.control.get(RUNS, "run-1")
    assert row is not None
    assert row.status == "failed"


def test_a_live_run_has_no_terminal_facts(scene: tuple[Stage, RunData, MemoryLog]) -> None:
    """And an unknown one has nothing."""
    stage, data, _ = scene
    stage.queue(FLOW)
    assert data.read_terminal_facts("run-1") is None
    assert data.read_run_input("nowhere") == Missing("nowhere", "input")
