"""Requests, messages, turns and sessions: four facts, each with its own states."""

from typing import Any

import pytest

from runwright.eventstore.events.event import Event
from runwright.eventstore.events.message import MessageCancelled, MessageDelivered, MessageQueued, MessageSent
from runwright.eventstore.events.request import (
    RequestAccepted,
    RequestClosed,
    RequestOpened,
    RequestRefused,
    RequestRejected,
    RequestSubmitted,
)
from runwright.eventstore.events.session import SessionAttached, SessionDetached, SessionPersonSpoke
from runwright.eventstore.events.turn import TurnEnded, TurnLost, TurnStarted
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.turns import TURNS
from runwright.projections.errors import AlreadyHeld, ImpossibleEvent
from runwright.projections.rows import MemoryRows
from support.told import Teller

OPENED = RequestOpened(request="q", kind="agent", path="a", visit=1, attempt=1)
SUBMITTED = RequestSubmitted(request="q", submission="s1", key="k")
REJECTED = RequestRejected(request="q", submission="s1", actor="agent", code="schema")
ACCEPTED = RequestAccepted(request="q", submission="s1", source="agent")


def fold(*events: Event, stream: str = "run/r1") -> MemoryRows:
    """Fold events of one stream; those of sessions stand in the session ``s``."""
    rows, teller = MemoryRows([REQUESTS, MESSAGES, TURNS, SESSIONS]), Teller()
    for event in events:
        own = "session/s" if event.type.startswith("session.") else stream
        rows.apply(teller.tell(own, event))
    return rows


def refused(*events: Event) -> None:
    """Check that the last of these events is refused."""
    fold(*events[:-1])
    with pytest.raises(ImpossibleEvent):
        fold(*events)


def queued(name: str = "m", **changes: Any) -> MessageQueued:
    """A message that waits."""
    facts: dict[str, Any] = {"kind": "step", "session": "s", "order": 1, "source": "q", "starts_turn": True}
    return MessageQueued(message=name, **(facts | changes))


def delivered(number: int = 1, **changes: Any) -> MessageDelivered:
    """A message that is handed out."""
    facts: dict[str, Any] = {"message": "m", "session": "s", "epoch": "e1", "starts_turn": True}
    return MessageDelivered(number=number, **(facts | changes))


def test_a_candidate_is_refused_and_another_accepted() -> None:
    """Each step is a revision; refused candidates are counted, answers turned away are not."""
    again = RequestSubmitted(request="q", submission="s2", key="k2")
    turned_away = RequestRefused(request="q", submission="s0", actor="person", code="stale")
    row = fold(OPENED, turned_away, SUBMITTED, REJECTED, again).get(REQUESTS, "q")
    assert row is not None
    assert (row.state, row.refused, row.revision, row.candidate, row.rejection) == ("validating", 1, 5, 5, 4)
    accepted = RequestAccepted(request="q", submission="s2", source="agent")
    row = fold(OPENED, SUBMITTED, REJECTED, again, accepted).get(REQUESTS, "q")
    assert row is not None
    assert (row.state, row.source) == ("accepted", "agent")


def test_requests_refuse_what_does_not_fit() -> None:
    """A second candidate, a verdict on another one, an answer after the end."""
    refused(OPENED, SUBMITTED, SUBMITTED)
    refused(OPENED, ACCEPTED)
    refused(OPENED, SUBMITTED, RequestAccepted(request="q", submission="s9", source="agent"))
    refused(OPENED, SUBMITTED, ACCEPTED, RequestClosed(request="q", cause="cancelled"))
    refused(OPENED, RequestClosed(request="q", cause="timed_out"), SUBMITTED)
    refused(OPENED, OPENED)


def test_a_policy_answers_without_a_candidate() -> None:
    """Its answer is accepted from open."""
    policy = RequestAccepted(request="q", submission="policy", source="policy")
    row = fold(OPENED, policy).get(REQUESTS, "q")
    assert row is not None
    assert (row.state, row.source) == ("accepted", "policy")


def test_one_answer_per_attempt() -> None:
    """A second request about the same attempt cannot be answered, too."""
    other = RequestOpened(request="q2", kind="agent", path="a", visit=1, attempt=1)
    second = RequestAccepted(request="q2", submission="p", source="policy")
    with pytest.raises(AlreadyHeld):
        fold(OPENED, other, SUBMITTED, ACCEPTED, second)


def test_a_reminder_counts_an_unproductive_end() -> None:
    """Other messages of the request do not."""
    row = fold(OPENED, queued(), MessageCancelled(message="m", cause="reminded"), queued("m2", reason="reminder"))
    request = row.get(REQUESTS, "q")
    assert request is not None
    assert request.unproductive == 1


def test_a_message_is_sent_or_cancelled() -> None:
    """Evidence makes a cancelled one sent; sent is final."""
    cancelled = MessageCancelled(message="m", cause="paused")
    sent = MessageSent(message="m", epoch="e1", entry="x")
    row = fold(OPENED, queued(), cancelled, sent).get(MESSAGES, "m")
    assert row is not None
    assert (row.state, row.entry) == ("sent", "x")
    refused(OPENED, queued(), sent, sent)
    refused(OPENED, queued(), sent, cancelled)
    refused(OPENED, queued(), cancelled, cancelled)


def test_one_pending_step_message_per_request() -> None:
    """A second one waits until the first is sent or cancelled; other kinds do not count."""
    with pytest.raises(AlreadyHeld):
        fold(OPENED, queued(), queued("m2"))
    fold(OPENED, queued(), queued("m2", kind="notification"))
    fold(OPENED, queued(), MessageCancelled(message="m", cause="paused"), queued("m2"))


def test_deliveries_count_and_wake_a_session() -> None:
    """A delivery goes to the present coordinator; those that start a turn count until a person speaks."""
    attached = SessionAttached(epoch="e1", agent="pi")
    rows = fold(attached, OPENED, queued(), delivered(), delivered(2))
    session, message = rows.get(SESSIONS, "s"), rows.get(MESSAGES, "m")
    assert session is not None
    assert message is not None
    assert (session.wake_ups, message.deliveries) == (2, 2)
    spoke = fold(attached, OPENED, queued(), delivered(), SessionPersonSpoke(epoch="e1")).get(SESSIONS, "s")
    assert spoke is not None
    assert spoke.wake_ups == 0
    refused(attached, OPENED, queued(), delivered(2))
    refused(attached, SessionDetached(epoch="e1"), OPENED, queued(), delivered())
    refused(attached, SessionAttached(epoch="e2", agent="pi"), OPENED, queued(), delivered())
    refused(attached, attached)
    back = fold(attached, SessionDetached(epoch="e1"), attached, OPENED, queued(), delivered()).get(SESSIONS, "s")
    assert back is not None
    assert (back.epoch, back.attached) == ("e1", True)


def test_one_open_turn_per_message_and_session() -> None:
    """A second is refused; an ended or lost one makes room, and ends once."""
    first = TurnStarted(turn="t1", message="m1", run="r1", session="s", epoch="e1")
    same_session = TurnStarted(turn="t2", message="m2", run=None, session="s", epoch="e1")
    same_message = TurnStarted(turn="t2", message="m1", run="r1", session="s2", epoch="e1")
    for second in (same_session, same_message):
        with pytest.raises(AlreadyHeld):
            fold(first, second)
        fold(first, TurnLost(turn="t1", cause="detached"), second)
    ended = TurnEnded(turn="t1", stop_reason="completed", entry="x", digest="d", length=4)
    row = fold(first, ended).get(TURNS, "t1")
    assert row is not None
    assert (row.state, row.stop_reason, row.length) == ("ended", "completed", 4)
    refused(first, ended, ended)
    refused(first, TurnLost(turn="t1", cause="detached"), ended)


def test_a_request_counts_what_its_messages_and_turns_do() -> None:
    """Its last message and how many, deliveries that started a turn, errors in a row until one completes."""
    attached = SessionAttached(epoch="e1", agent="pi")
    sent = MessageSent(message="m", epoch="e1", entry="x")
    turn = TurnStarted(turn="t1", message="m", run="r1", session="s", epoch="e1")
    error = TurnEnded(turn="t1", stop_reason="error", request="q")
    told = (attached, OPENED, queued(), delivered(request="q"), sent, turn, error)
    row = fold(*told).get(REQUESTS, "q")
    assert row is not None
    assert (row.message, row.messages, row.wake_ups, row.errors) == ("m", 1, 1, 1)
    again = TurnStarted(turn="t2", message="m2", run="r1", session="s", epoch="e1")
    completed = TurnEnded(turn="t2", stop_reason="completed", request="q")
    row = fold(*told, queued("m2", order=2, reason="resumed"), again, completed).get(REQUESTS, "q")
    assert row is not None
    assert (row.message, row.messages, row.wake_ups, row.errors, row.unproductive) == ("m2", 2, 1, 0, 0)


def test_a_session_orders_its_messages_and_is_known_before_anything_attaches() -> None:
    """The order of the last message stays through every attach; an accepted answer sets the wake-ups back."""
    row = fold(OPENED, queued(order=3), SessionAttached(epoch="e1", agent="pi")).get(SESSIONS, "s")
    assert row is not None
    assert (row.messages, row.attached, row.epoch) == (3, True, "e1")
    answered = RequestAccepted(request="q", submission="s1", source="agent", session="s")
    told = (SessionAttached(epoch="e1", agent="pi"), OPENED, queued(), delivered(request="q"), SUBMITTED)
    before, after = fold(*told).get(SESSIONS, "s"), fold(*told, answered).get(SESSIONS, "s")
    assert before is not None
    assert after is not None
    assert (before.wake_ups, after.wake_ups) == (1, 0)


def test_a_message_counts_what_one_coordinator_was_handed() -> None:
    """A new epoch begins anew; the deliveries of all add up."""
    told = (SessionAttached(epoch="e1", agent="pi"), OPENED, queued(), delivered(), delivered(2))
    row = fold(*told, SessionAttached(epoch="e2", agent="pi"), delivered(3, epoch="e2")).get(MESSAGES, "m")
    assert row is not None
    assert (row.deliveries, row.sends, row.epoch) == (3, 1, "e2")
