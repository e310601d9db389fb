"""One bounded document per run, and when each visit was queued, running and waiting."""

from typing import Any

from runwright.eventstore.events.node import NodeStarted
from runwright.eventstore.events.run import RunEligible, RunParked
from runwright.projections.views import run_view, timeline
from runwright.projections.views.run_view import RunView
from runwright.projections.views.timeline import Timeline
from support.told import Teller, Told, completed, launched, started, visited

STREAM = "run/r1"


def view(told: list[Told], nodes: dict[str, str] | None = None) -> Any:
    """Fold a run's own stream into its document."""
    teller = Teller()
    recorded = [teller.tell(*each) for each in told]
    own = (each for each in recorded if each.stream == STREAM)
    return RunView("r1", nodes).follow(own).document(held=True)


def spans(told: list[Told]) -> Any:
    """Fold a timeline and answer node and phases of each visit."""
    teller, found = Teller(), Timeline()
    for each in told:
        found.apply(teller.tell(*each))
    visits: Any = found.document()["visits"]
    return [(each["node"], [span["phase"] for span in each["spans"]]) for each in visits]


def test_nodes_in_the_order_of_the_graph() -> None:
    """Nodes that were not reached are idle; the open one has the run's own state; others their outcome."""
    told = [
        *started(),
        *visited(path="a", outcome="failed"),
        (STREAM, NodeStarted(path="b", visit=1, attempt=1, kind="agent")),
    ]
    document = view(told, {"b": "agent", "a": "compute", "c": "shell"})
    assert [(each["node"], each["state"], each["current"]) for each in document["nodes"]] == [
        ("b", "running", True),
        ("a", "failed", False),
        ("c", "idle", False),
    ]
    assert document["nodes"][2]["kind"] == "shell"
    assert document["status"]["node"] == "b"
    assert document["nodes_left_out"] == 0


def test_the_document_is_bounded(monkeypatch: Any) -> None:
    """However large graph and history, the rest is counted."""
    monkeypatch.setattr(run_view, "MOST_NODES", 3)
    monkeypatch.setattr(timeline, "MOST_VISITS", 2)
    document = view(completed(steps=7), {f"n{number}": "compute" for number in range(9)})
    assert (len(document["nodes"]), document["nodes_left_out"]) == (3, 7)
    assert (len(document["timeline"]["visits"]), document["timeline"]["dropped"]) == (2, 5)


def test_a_visit_begins_with_what_stood_before_it() -> None:
    """The queue's time belongs to the first visit; the second begins at once."""
    assert spans([*started(), *visited(), *visited(visit=2)]) == [
        ("a", ["queued", "running", "running"]),
        ("a", ["running"]),
    ]


def test_a_visit_that_waits_shows_it() -> None:
    """Parked for an answer, eligible again, running again: one visit, four more spans."""
    told: list[Told] = [
        *started(),
        (STREAM, NodeStarted(path="a", visit=1, attempt=1, kind="agent")),
        (STREAM, RunParked(reason="waiting")),
        (STREAM, RunEligible(cause="answer")),
        *launched("r1", 2, progress=1),
        *visited()[1:],
    ]
    ((node, phases),) = spans(told)
    assert node == "a"
    assert phases[-4:] == ["running", "waiting", "queued", "running"]


def test_a_retry_is_a_second_attempt() -> None:
    """Attempts stand in their visit, each with its outcome."""
    told = [*started(), *visited(outcome="failed"), (STREAM, NodeStarted(path="a", visit=1, attempt=2, kind="compute"))]
    document = view(told)
    (visit,) = document["timeline"]["visits"]
    assert [(each["attempt"], each["outcome"]) for each in visit["attempts"]] == [(1, "failed"), (2, None)]


def test_a_queued_run_has_a_span_and_no_node() -> None:
    """Before the first node there is only waiting for one's turn."""
    assert spans(started()[:3]) == [(None, ["queued"])]
