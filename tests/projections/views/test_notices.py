"""What a run has told people, from its events: with and without a session, erased, and bounded."""

from typing import Any

from attrs import evolve

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.message import MessageQueued, MessageSent
from runwright.eventstore.events.node import NodeStarted, NodeUpdated
from runwright.projections.control.messages import MESSAGES
from runwright.projections.rows import MemoryRows
from runwright.projections.views import notices
from runwright.projections.views.notices import Notices
from support.told import Teller

STREAM = "run/r1"


def begun(path: str = "tell", visit: int = 1) -> NodeStarted:
    """A notify node begins."""
    return NodeStarted(path=path, visit=visit, attempt=1, kind="notify")


def alone(text: str, path: str = "tell", visit: int = 1) -> NodeUpdated:
    """What a run without a session tells."""
    update = Content.json({"message": text, "notice": "interim"})
    return NodeUpdated(path=path, visit=visit, attempt=1, key="notification", number=visit, update=update)


def in_session(text: str, number: int = 1) -> MessageQueued:
    """What a run tells its session."""
    return MessageQueued(
        message=f"notification:r1:{number}",
        kind="notification",
        session="s1",
        order=number,
        source="r1",
        starts_turn=False,
        content=Content.json({"node": "docs/tell", "kind": "final"}),
        text=Content.text(text),
    )


def told(*events: Event, erased: bool = False) -> tuple[Notices, MemoryRows]:
    """Fold a run's stream, as it is or as a redaction leaves it."""
    teller, found, rows = Teller(), Notices(), MemoryRows((MESSAGES,))
    for event in events:
        recorded = teller.tell(STREAM, event)
        if erased:
            recorded = without_body(recorded)
        found.apply(recorded)
        rows.apply(recorded)
    return found, rows


def without_body(recorded: RecordedEvent) -> RecordedEvent:
    """An event whose private values are gone."""
    return evolve(recorded, body=None, salt=None, event=None)


def test_a_notification_has_its_time_node_and_text() -> None:
    """Without a session it is an update of the node, with one a message, which says how far it has come."""
    found, rows = told(
        begun(),
        alone("half"),
        begun("docs/tell"),
        in_session("done"),
        MessageSent(message="notification:r1:1", epoch="e", entry="x"),
    )
    documents: Any = found.document(rows)["items"]
    assert [(each["node"], each["visit"], each["kind"], each["text"], each["delivery"]) for each in documents] == [
        ("tell", 1, "interim", "half", None),
        ("docs/tell", 1, "final", "done", "sent"),
    ]
    assert all(each["at"].startswith("2027-") for each in documents)


def test_an_erased_one_is_shown_as_such() -> None:
    """Its text is gone; that something was told, when and by which node, stays."""
    found, rows = told(begun(), alone("secret"), begun("docs/tell"), in_session("secret"), erased=True)
    documents: Any = found.document(rows)["items"]
    assert [(each["node"], each["text"], each["kind"]) for each in documents] == [
        ("tell", {"erased": True}, None),
        ("docs/tell", {"erased": True}, None),
    ]


def test_progress_and_other_messages_are_none() -> None:
    """Progress that a node happens to report under the name of notifications, and what a step asks."""
    progress = NodeUpdated(
        path="tell", visit=1, attempt=1, key="notification", number=1, update=Content.json({"completed": 1})
    )
    step = evolve(in_session("Review it."), kind="step")
    found, _ = told(begun(), progress, step)
    assert found.kept == ()


def test_only_the_newest_are_kept(monkeypatch: Any) -> None:
    """By their number and by their size; at least the last one."""
    monkeypatch.setattr(notices, "MOST_NOTICES", 3)
    events = [each for visit in range(1, 6) for each in (begun(visit=visit), alone(f"n{visit}", visit=visit))]
    found, _ = told(*events)
    assert ([each.text for each in found.kept], found.dropped) == (["n3", "n4", "n5"], 2)
    monkeypatch.setattr(notices, "MOST_TEXT", 1)
    found, _ = told(*events)
    assert ([each.text for each in found.kept], found.dropped) == (["n5"], 4)
