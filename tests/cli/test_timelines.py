"""The drawn timeline: a label is a node's own time, and what lies between two nodes shows only where time passed."""

import io
from typing import Any

from rich.console import Console

from runwright.cli.rendering.rows import RowsTable
from runwright.cli.rendering.text import rfc3339
from runwright.cli.rendering.timelines import TimelineChart

SECOND = 1_000_000


def visit(node: str | None, *spans: tuple[str, float, float]) -> dict[str, Any]:
    """A visit with its phases."""
    parts = [
        {"phase": phase, "from": rfc3339(round(begin * SECOND)), "to": rfc3339(round(end * SECOND))}
        for phase, begin, end in spans
    ]
    attempts = [] if node is None else [{"outcome": "completed"}]
    return {"node": node, "visit": 1, "kind": "compute", "attempts": attempts, "spans": parts}


def drawn(*visits: dict[str, Any]) -> str:
    """The chart at 80 columns."""
    console = Console(file=io.StringIO(), width=80)
    with console.capture() as captured:
        console.print(TimelineChart({"visits": list(visits), "dropped": 0}, 100 * SECOND))
    return captured.get()


def test_time_in_the_queue_is_no_time_of_the_node() -> None:
    """A run that waited an hour for somebody to drive it has a first node of two seconds."""
    shown = drawn(visit("plan", ("queued", 0, 3600), ("running", 3600, 3602)))
    assert "2.0 s" in shown
    assert "1 h" not in shown


def test_no_time_between_nodes_is_not_drawn() -> None:
    """The moment between the last node and the end of the run is nobody's concern; an hour is."""
    assert "between" not in drawn(visit("plan", ("running", 0, 2)), visit(None, ("queued", 2, 2)))
    assert "(between nodes)" in drawn(visit("plan", ("running", 0, 2)), visit(None, ("queued", 2, 3602)))


def test_rows_that_are_too_wide_keep_what_people_look_for() -> None:
    """At a terminal IDs are short and the columns that tell most stay; the others are named."""
    row: dict[str, Any] = {"effect": "a" * 58 + "123456", "fingerprint": "b" * 64, "path": "pay", "state": "applied"}
    row |= {f"further_field_{number}": "x" * 20 for number in range(5)}
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with console.capture() as captured:
        console.print(RowsTable([row, row]))
    shown = captured.get()
    assert all(each in shown for each in ("123456", "pay", "applied", "more field"))
    assert "aaaaaaa" not in shown
