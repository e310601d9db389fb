"""How an attempt ends that waited for an answer while nobody drove its run: with the answer, or without one."""

from collections.abc import Iterable

from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.node import OF_STEPS
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.message import MessageCancelled
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.request import RequestClosed
from runwright.eventstore.events.run import RunEligible
from runwright.eventstore.events.timer import TimerCleared
from runwright.eventstore.values import Json
from runwright.projections.control.messages import MessageRow
from runwright.projections.control.requests import RequestRow
from runwright.projections.control.timers import TimerRow


def taken(
    of: RunFacts,
    request: RequestRow,
    output: Json,
    *,
    messages: Iterable[MessageRow],
    timers: Iterable[TimerRow],
    cause: str = "answer",
) -> list[Event]:
    """Work out what follows an accepted answer: the node finishes with it, and the run goes on.

    Args:
        of: The run.
        request: The request that was answered.
        output: The node's output.
        messages: What the run has to tell its session and has not been sent.
        timers: Timers of the run that are set.
        cause: What makes the run eligible.
    """
    finished = NodeFinished(
        path=request.path,
        visit=request.visit,
        attempt=request.attempt,
        outcome="completed",
        output=Content.json(output),
    )
    return [*_dropped(request, "answered", messages, timers), finished, *goes_on(of, cause)]


def given_up(
    of: RunFacts,
    request: RequestRow,
    code: str,
    error: str,
    *,
    messages: Iterable[MessageRow],
    timers: Iterable[TimerRow],
) -> list[Event]:
    """Work out what follows the last candidate that was refused: the attempt fails, and the next worker routes it.

    Args:
        of: The run.
        request: The request that nobody could answer.
        code: The attempt's code.
        error: The attempt's private error text.
        messages: As for `taken`.
        timers: As for `taken`.
    """
    finished = NodeFinished(
        path=request.path,
        visit=request.visit,
        attempt=request.attempt,
        outcome="failed",
        code=code,
        error=Content.text(error),
    )
    closed = RequestClosed(request=request.request, cause="failed")
    return [closed, *_dropped(request, "failed", messages, timers), finished, *goes_on(of, "answer")]


def goes_on(of: RunFacts, cause: str) -> list[Event]:
    """Make a run eligible that waits for just this; a paused one waits for its resume, another for what it names."""
    queue = of.queue
    waits = queue.state == "parked" and queue.reason == "waiting" and not queue.eligible
    return [RunEligible(cause=cause)] if waits and not of.run.paused else []


def _dropped(
    request: RequestRow, cause: str, messages: Iterable[MessageRow], timers: Iterable[TimerRow]
) -> list[Event]:
    """What the session still has of a request that is over: messages that were not sent, and time limits."""
    unsent = [each for each in messages if each.source == request.request]
    return [
        *(MessageCancelled(message=each.message, cause=cause) for each in unsent),
        *(TimerCleared(kind=each.kind) for each in timers if each.kind in OF_STEPS),
    ]
