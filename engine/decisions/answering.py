"""Answers: a checkpoint's carries on in a child run, an agent's finishes the node that asked."""

from typing import Final

from attrs import evolve, frozen

from runwright.engine.commands.client import AnswerRequest, Caller
from runwright.engine.decisions.carried import carried
from runwright.engine.decisions.control import standing
from runwright.engine.decisions.decided import Decided, Decision, TurnedAway
from runwright.engine.decisions.facts import RunFacts, Unsettled
from runwright.engine.decisions.person import turned_away
from runwright.engine.decisions.program import handed_on, source_changed, standing_on
from runwright.engine.decisions.terminal import ended
from runwright.engine.identity import child_id
from runwright.engine.results import Adopted, Conflict, RecoveryRequired
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.message import MessageCancelled
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.request import RequestAccepted, RequestSubmitted
from runwright.eventstore.events.run import RunContinued, RunEligible
from runwright.eventstore.events.timer import TimerCleared, TimerSet
from runwright.eventstore.events.turn import TurnLost
from runwright.eventstore.values import Json, encode
from runwright.projections.control.mounts import MountRow
from runwright.projections.control.requests import RequestRow
from runwright.projections.control.visits import VisitRow

#: The kinds of requests that an answer settles; the others have ways of their own.
ANSWERED: Final = frozenset({"checkpoint", "agent"})


@frozen(kw_only=True)
class AnswerFacts:
    """What an answer is decided on.

    Attributes:
        of: The run that asked.
        request: Its request.
        accepted: The canonical text of the answer that was accepted before, where one was.
        unsettled: What the run holds.
        visits: Its nodes.
        mounts: Its mounts.
    """

    of: RunFacts
    request: RequestRow
    accepted: str | None
    unsettled: Unsettled
    visits: tuple[VisitRow, ...] = ()
    mounts: tuple[MountRow, ...] = ()


@frozen(kw_only=True)
class Continued:
    """A parent's end and its child's beginning, which one transaction writes.

    Attributes:
        child: The child's ID.
        parent: What the parent's stream takes.
        answer: Which of these holds the checkpoint's output.
    """

    child: str
    parent: tuple[Event, ...]
    answer: int


def decide_answer(
    facts: AnswerFacts, command: AnswerRequest, caller: Caller, submission: str
) -> Decision[str] | Continued | TurnedAway:
    """Decide whether an answer is accepted; the order of checks is kind, authority, state, pause.

    Args:
        facts: The request and its run.
        command: The answer, checked against the node's type.
        caller: Who answers.
        submission: A new submission ID.
    """
    of, request = facts.of, facts.request
    refusal = _refuse_kind(request, caller)
    if refusal is not None:
        recorded = request.kind == "decision" and not caller.person
        return turned_away(of, request, refusal, submission, caller, command.value) if recorded else refusal
    if request.state == "accepted":
        return _answered(facts, command)
    refused = refuse_state(of, request) or _refuse_sources(of, command)
    if refused is not None:
        return refused
    accepted = (
        RequestSubmitted(
            request=request.request, submission=submission, key=submission, candidate=Content.json(command.value)
        ),
        RequestAccepted(
            request=request.request,
            submission=submission,
            source="person" if caller.person else "agent",
            session=request.session,
        ),
        *(
            MessageCancelled(message=each.message, cause="answered")
            for each in facts.unsettled.messages
            if each.source == request.request
        ),
    )
    finished = NodeFinished(
        path=request.path,
        visit=request.visit,
        attempt=request.attempt,
        outcome="completed",
        output=Content.json(command.value),
    )
    if request.kind == "agent":
        return Decided(of.run.run_id, (*accepted, *_cleared(facts, "run"), finished, *_goes_on(of)))
    child = child_id(request.request)
    continued = RunContinued(child=child, request=request.request)
    turns = [TurnLost(turn=each.turn, cause="continued") for each in facts.unsettled.turns]
    parent = (*accepted, finished, *turns, *_cleared(facts), continued)
    return Continued(child=child, parent=parent, answer=len(accepted))


def continuation(facts: AnswerFacts, output: int) -> tuple[Event, ...]:
    """Work out what the child of an answered checkpoint begins with.

    Args:
        facts: The parent as it stood before the answer.
        output: Position of the event in the parent's stream that holds the answer.
    """
    run, now = facts.of.run, facts.of.now
    queued = evolve(
        handed_on(run),
        kind="continue",
        cause=run.cause,
        depth=run.depth,
        parent=run.run_id,
        restart_number=run.restart_number,
        request=facts.request.request,
        step_base=run.step_base + run.steps,
    )
    visits = [_finished(row, output, now) if row.path == facts.request.path else row for row in facts.visits]
    # The limit bounds the chain: what the parent used of it is used.
    limit = [TimerSet(kind="run", due=each.due) for each in facts.unsettled.timers if each.kind == "run"]
    return (queued, *carried(visits, facts.mounts), *limit)


def _finished(row: VisitRow, output: int, now: int) -> VisitRow:
    """The checkpoint as the parent's own stream has it after the answer."""
    return evolve(
        row, open=False, deadline=None, finished_at=now, outcome="completed", code=None, finished=output, output=output
    )


def _refuse_kind(request: RequestRow, caller: Caller) -> Conflict | None:
    evidence: dict[str, Json] = {"request": request.request, "run": request.run_id, "kind": request.kind}
    if request.kind == "decision" or (request.protected and not caller.person):
        return Conflict("human_required", evidence)
    if request.kind not in ANSWERED or (request.kind == "agent" and request.session is not None):
        # A session answers its own steps, with the evidence of its turns.
        return Conflict("protocol_rejected", {**evidence, "rule": "answered_by_its_session"})
    return None


def _answered(facts: AnswerFacts, command: AnswerRequest) -> Decision[str]:
    """Adopt an equal answer that was accepted before; another one comes too late."""
    run, request = facts.of.run, facts.request
    if facts.accepted == encode(command.value):
        return Adopted(run.continued_by or run.run_id, facts.of.revision)
    evidence: dict[str, Json] = {"run": run.run_id, "request": request.request, "state": request.state}
    if run.continued_by is not None:
        return Conflict("already_terminal", {**evidence, "outcome": run.status, "last": run.continued_by})
    return Conflict("revision_changed", {**evidence, "source": request.source})


def refuse_state(of: RunFacts, request: RequestRow) -> Conflict | None:
    """Refuse an answer that comes too late, to a run that is paused, or past a worker that waits for its own."""
    if of.ended:
        return ended(of)
    if request.state != "open":
        evidence: dict[str, Json] = {"request": request.request, "run": request.run_id, "state": request.state}
        settled: dict[str, Json] = {"cause": request.cause} if request.state == "closed" else {}
        return Conflict("revision_changed", {**evidence, **settled})
    match standing(of):
        case "paused":
            return Conflict("paused", {"run": of.run.run_id})
        case "waiting" | "parked" if of.queue.owner is None:
            return None
        case "never_started":
            return Conflict("not_started", {"run": of.run.run_id, "queue": of.queue.state})
        case _:
            # A worker holds the run: its executor was asked, and its answer is the one that is waited for. Two that
            # answer one question would have it settled by whoever is quicker.
            at: dict[str, Json] = {"run": of.run.run_id, "queue": of.queue.state}
            return Conflict("still_live", {**at, "request": request.request, "node": request.path})


def _refuse_sources(of: RunFacts, command: AnswerRequest) -> RecoveryRequired | None:
    """Check the sources before the answer is used up."""
    run, now = of.run, standing_on(of.run, command.definition, command.sources)
    return None if now == (run.definition, run.sources) else source_changed(run, now)


def _cleared(facts: AnswerFacts, keep: str | None = None) -> tuple[Event, ...]:
    return tuple(TimerCleared(kind=each.kind) for each in facts.unsettled.timers if each.kind != keep)


def _goes_on(of: RunFacts) -> tuple[Event, ...]:
    """A run that waits for the answer goes on; one that is parked for another reason goes on by what that names."""
    return (RunEligible(cause="answer"),) if of.queue.reason == "waiting" and not of.queue.eligible else ()
