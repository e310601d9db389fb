"""Sessions, decided: IDs, epochs, boundaries, and how many starts in a row messages may cause."""

from typing import Any

import pytest
from attrs import evolve

from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.session import Origin, boundary, check_epoch, check_session, origin_of
from runwright.engine.results import Conflict
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS
from runwright.projections.control.sessions import SessionRow
from support.graphs import graph, node
from support.memory_log import MemoryLog
from support.stage import Stage, TestClock


@pytest.fixture
def facts() -> RunFacts:
    """A run that waits for its session."""
    clock = TestClock()
    log: Any = MemoryLog(clock.now)
    scene = Stage(log, clock)
    scene.queue(graph(node("one")), session="s1")
    return RunFacts(scene.row(RUNS, "run-1"), scene.row(QUEUE, "run-1"), 2, clock.now())


def test_starts_that_only_messages_cause_are_bounded(facts: RunFacts) -> None:
    """Over depth 3 a model's start is refused with the run that caused it; a person begins a new row."""
    for depth in range(3):
        assert origin_of(Origin(answering=evolve(facts.run, depth=depth), person=False)) == ("run-1", depth + 1)
    refused = origin_of(Origin(answering=evolve(facts.run, depth=3), person=False))
    assert isinstance(refused, Conflict)
    assert (refused.code, refused.evidence) == ("start_no_progress", {"run": "run-1", "depth": 3})
    assert origin_of(Origin(answering=evolve(facts.run, depth=3))) == (None, 0)
    assert origin_of(Origin(person=False)) == (None, 0)


@pytest.mark.parametrize("state", ["starting", "running", "parked", "done", "failed", "cancelled"])
def test_a_boundary_changes_only_what_is_queued(facts: RunFacts, state: str) -> None:
    """Eligible once, and for good."""
    assert [each.type for each in boundary(facts)] == ["run.eligible"]
    assert boundary(evolve(facts, queue=evolve(facts.queue, eligible=True))) == []
    assert boundary(evolve(facts, queue=evolve(facts.queue, state=state))) == []


def test_only_the_present_epoch_speaks() -> None:
    """Each refusal says why; what never attached is missing."""
    row = SessionRow(session="s", epoch="e2", agent="pi", attached=True, wake_ups=0, messages=0, since=0)
    assert check_epoch(row, "s", "e2") is None
    cases = [(None, "missing"), (evolve(row, epoch=None), "missing"), (evolve(row, attached=False), "missing")]
    for each, reason in [*cases, (evolve(row, epoch="e3"), "owner_changed")]:
        refused = check_epoch(each, "s", "e2")
        assert isinstance(refused, Conflict)
        assert (refused.code, refused.evidence["reason"]) == ("claim_lost", reason)


def test_session_ids_are_the_agents_own() -> None:
    """Letters, digits and four signs, up to 128; never a path, a line or nothing."""
    for session in ("a", "pi-1", "A.b_c:d-9", "x" * 128):
        assert check_session(session) is None
    for session in ("", "a/b", "a b", "a\n", "é", "x" * 129):
        assert check_session(session) is not None
