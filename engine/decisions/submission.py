"""Candidates for an agent's request: recorded, checked where the workflow's code is, then accepted or refused."""

from typing import Final

from attrs import evolve, frozen

from runwright.engine.commands.client import Caller, SubmitAnswer, UpdateRequest
from runwright.engine.commands.host import JudgeSubmission
from runwright.engine.decisions.answering import refuse_state
from runwright.engine.decisions.decided import Decided, Decision, TurnedAway
from runwright.engine.decisions.facts import RunFacts, Step, Unsettled
from runwright.engine.decisions.node import progress
from runwright.engine.decisions.person import turned_away
from runwright.engine.decisions.request import MAX_REFUSED
from runwright.engine.decisions.settling import given_up, taken
from runwright.engine.decisions.turn import unproductive
from runwright.engine.results import Adopted, Conflict
from runwright.engine.safe import error_text
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.request import RequestAccepted, RequestRejected, RequestSubmitted
from runwright.eventstore.values import Json, encode
from runwright.projections.control.requests import CRASHED, RequestRow, is_refusal

#: Candidates of one attempt whose check nobody could finish (page 07, "Messages").
MAX_CRASHED: Final = 2


@frozen(kw_only=True)
class SubmissionFacts:
    """What a candidate is decided on, when it comes in and when it was checked.

    Attributes:
        of: The run that asked.
        request: Its request.
        step: The same as its session has it, where it is put to one.
        submitted: The last candidate.
        unsettled: What the run holds.
    """

    of: RunFacts
    request: RequestRow
    step: Step | None
    submitted: RequestSubmitted | None
    unsettled: Unsettled


def decide_submission(
    facts: SubmissionFacts, command: SubmitAnswer, caller: Caller, submission: str
) -> Decision[str] | TurnedAway:
    """Decide whether a candidate is taken in to be checked; the order of checks is authority, kind, state, pause.

    Args:
        facts: The request and its run.
        command: The candidate.
        caller: Who submits it.
        submission: A new submission ID.
    """
    of, request = facts.of, facts.request
    if request.kind == "decision" and not caller.person:
        human = Conflict("human_required", {"request": request.request, "run": request.run_id, "kind": request.kind})
        return turned_away(of, request, human, submission, caller, command.value)
    if (refusal := _refuse_speaker(request, command, caller)) is not None:
        return refusal
    if request.state == "accepted" and _same(facts.submitted, command.value):
        return Adopted(of.run.run_id, of.revision)
    if (refusal := refuse_state(of, request)) is not None:
        return refusal
    submitted = RequestSubmitted(
        request=request.request,
        submission=submission,
        key=submission,
        source="agent" if command.session is not None else "person",
        candidate=Content.json(command.value),
    )
    return Decided(of.run.run_id, (submitted,))


def decide_request_update(facts: SubmissionFacts, command: UpdateRequest, caller: Caller) -> Decision[str]:
    """Decide whether progress belongs to the attempt that waits; it counts as no progress of the run."""
    of, request = facts.of, facts.request
    if (refusal := _refuse_speaker(request, command, caller)) is not None:
        return refusal
    checked = evolve(request, state="open") if request.state == "validating" else request
    if (refusal := refuse_state(of, checked)) is not None:
        return refusal
    updated = progress(of, request.path, request.visit, request.attempt, command.name, command.update)
    return updated if isinstance(updated, Conflict) else Decided(of.run.run_id, (updated,))


def decide_verdict(facts: SubmissionFacts, command: JudgeSubmission, actor: str) -> Decision[str]:
    """Decide what becomes of a candidate that was checked, if nothing has overtaken the check.

    Args:
        facts: The request and its run.
        command: What the check came to.
        actor: Who checked it.
    """
    of, request, held = facts.of, facts.request, facts.unsettled
    if request.state != "validating" or request.submission != command.submission:
        evidence: dict[str, Json] = {"request": request.request, "run": request.run_id, "state": request.state}
        return Conflict("revision_changed", {**evidence, "cause": request.cause})
    if command.refusal is None:
        accepted = RequestAccepted(
            request=request.request,
            submission=command.submission,
            source="agent" if facts.submitted is None else facts.submitted.source,
            session=request.session,
        )
        follows = taken(of, request, command.output, messages=held.messages, timers=held.timers)
        return Decided("accepted", (accepted, *follows))
    code = command.code or "output_invalid"
    rejected = RequestRejected(
        request=request.request,
        submission=command.submission,
        actor=actor,
        code=code,
        reason=Content.text(error_text(command.refusal)),
    )
    if _is_last(request, code):
        error = error_text(f"No further answer is taken; the last one was refused because: {command.refusal}")
        follows = given_up(of, request, "validation_failed", error, messages=held.messages, timers=held.timers)
        return Decided("failed", (rejected, *follows))
    return Decided("rejected", (rejected, *_asked_again(facts)))


def _is_last(request: RequestRow, code: str) -> bool:
    """Whether another candidate of this attempt is none that is waited for."""
    if code == CRASHED:
        return request.crashed + 1 >= MAX_CRASHED
    return is_refusal(code) and request.refused + 1 >= MAX_REFUSED


def _asked_again(facts: SubmissionFacts) -> list[Event]:
    """Remind a session whose turn was over before its candidate was refused: nothing else would wake it."""
    if facts.step is None or facts.unsettled.turns:
        return []
    return unproductive(evolve(facts.step, request=evolve(facts.step.request, state="open")))


def _refuse_speaker(request: RequestRow, command: SubmitAnswer | UpdateRequest, caller: Caller) -> Conflict | None:
    """Refuse who has no word in this: another session, a model outside of any, or somebody in a session's place."""
    evidence: dict[str, Json] = {"request": request.request, "run": request.run_id, "kind": request.kind}
    if command.session is None and not caller.person:
        return Conflict("human_required", evidence)
    if command.session is not None and command.session != request.session:
        return Conflict("protocol_rejected", {**evidence, "rule": "foreign_session", "session": command.session})
    if request.kind == "decision":
        return Conflict("protocol_rejected", {**evidence, "rule": "decided_by_a_person"})
    if request.kind != "agent":
        return Conflict("protocol_rejected", {**evidence, "rule": "takes_no_submission"})
    return None


def _same(submitted: RequestSubmitted | None, value: Json) -> bool:
    """Whether the candidate that was accepted is the one that comes in once more."""
    if submitted is None or submitted.candidate is None:
        return False
    return encode(submitted.candidate.value) == encode(value)
