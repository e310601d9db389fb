"""Fingerprints of private values."""

from typing import Any

from attrs import evolve

from runwright.engine.decisions.facts import Tree
from runwright.engine.decisions.fingerprint import request_fingerprint, terminal_fingerprint, without_values
from runwright.projections.control.runs import RUNS
from support.graphs import graph, node
from support.memory_log import MemoryLog
from support.stage import Stage, TestClock

TREE, OTHER = Tree("00" * 32, "in"), Tree("01" * 32, "in")


def test_equal_requests_have_equal_fingerprints() -> None:
    """The order of keys does not matter, the JSON type does, and so does the tree's key."""
    one = request_fingerprint(TREE, {"a": 1, "b": 2})
    assert one == request_fingerprint(TREE, {"b": 2, "a": 1})
    assert one != request_fingerprint(TREE, {"a": 1.0, "b": 2})
    assert request_fingerprint(TREE, 1) != request_fingerprint(TREE, True)
    assert one != request_fingerprint(OTHER, {"a": 1, "b": 2})


def test_the_environment_of_a_command_is_kept_as_fingerprints() -> None:
    """No value of a variable is stored; a changed one still changes the request."""
    kept = without_values(TREE, {"argv": ["x"], "env": {"TOKEN": "s3cr3t"}})
    assert isinstance(kept, dict)
    assert "s3cr3t" not in str(kept)
    assert kept["argv"] == ["x"]
    assert kept != without_values(TREE, {"argv": ["x"], "env": {"TOKEN": "other"}})
    assert without_values(TREE, {"argv": ["x"], "env": {}}) == {"argv": ["x"], "env": {}}


def test_an_end_is_known_again_by_what_ended_and_how_and_by_nothing_else() -> None:
    """Workflow, definition, input, outcome and result; never a time or an ID, or no restart would ever repeat one."""
    clock = TestClock()
    log: Any = MemoryLog(clock.now)
    scene = Stage(log, clock)
    scene.queue(graph(node("one")))
    run = scene.row(RUNS, "run-1")
    one = terminal_fingerprint(TREE, run, "failed", '["node_failed","why"]')
    later = evolve(run, run_id="run-2", created_at=9, started_at=8, finished_at=7, restart_number=2, parent="run-1")
    assert terminal_fingerprint(TREE, later, "failed", '["node_failed","why"]') == one
    others = [
        terminal_fingerprint(TREE, evolve(run, workflow="other"), "failed", '["node_failed","why"]'),
        terminal_fingerprint(TREE, evolve(run, definition="0" * 64), "failed", '["node_failed","why"]'),
        terminal_fingerprint(Tree(TREE.key, "other"), run, "failed", '["node_failed","why"]'),
        terminal_fingerprint(OTHER, run, "failed", '["node_failed","why"]'),
        terminal_fingerprint(TREE, run, "timed_out", '["node_failed","why"]'),
        terminal_fingerprint(TREE, run, "failed", '["node_failed","else"]'),
    ]
    assert len({one, *others}) == len(others) + 1
    assert terminal_fingerprint(None, run, "failed", "[]") is None
