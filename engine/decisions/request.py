"""Requests: asked once per attempt, and what a worker says of those that its executors answer."""

from typing import Final

from runwright.engine.commands.worker import AskPerson, AskSession, CloseRequest, OpenRequest, SubmitCandidate
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import RequestFacts
from runwright.engine.decisions.message import StepContent, decision_message, step_content
from runwright.engine.decisions.node import ASKING, closed, known_code, open_attempt
from runwright.engine.decisions.parking import parked
from runwright.engine.results import Adopted, Conflict
from runwright.engine.safe import error_text
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.request import (
    RequestAccepted,
    RequestOpened,
    RequestRejected,
    RequestSubmitted,
)
from runwright.eventstore.values import encode

#: Which node kinds ask by which kind of request.
ASKED_BY: Final = {
    "agent": ASKING,
    "assistant": frozenset({"assistant"}),
    "checkpoint": frozenset({"checkpoint"}),
    "decision": frozenset({"decision"}),
}

#: Refused candidates per attempt (page 07, "Messages").
MAX_REFUSED: Final = 5


def decide_open(facts: RequestFacts, command: OpenRequest, request: str, order: int) -> Decision[str]:
    """Decide whether a question is asked; after a crash the open equal one is adopted, with its saved prompt.

    Args:
        facts: The run and the newest request of its open attempt.
        command: What the worker asks.
        request: A new request ID.
        order: The next place among the session's messages, where the run has one.
    """
    of, spec = facts.of, facts.definition.nodes.get(command.path)
    if (refusal := refuse_asking(facts, command, command.kind)) is not None or spec is None:
        return refusal or broken("no_executor", node=command.path)
    if (saved := facts.request) is not None:
        if saved.state in ("open", "validating", "accepted") and _asks(facts.opened, command):
            return Adopted(saved.request, of.revision)
        return Conflict("revision_changed", {"request": saved.request, "state": saved.state})
    opened = RequestOpened(
        request=request,
        kind=command.kind,
        path=command.path,
        visit=command.visit,
        attempt=command.attempt,
        session=of.run.session if command.kind == "checkpoint" else None,
        deadline=command.deadline,
        protected=spec.protected,
        prompt=Content.text(command.prompt),
        contract=Content.json(command.contract),
        presentation=None if command.presentation is None else Content.json(command.presentation),
    )
    if opened.session is None:
        return Decided(request, (opened,))
    return Decided(request, (opened, decision_message(of.run, opened, order)))


def refuse_asking(facts: RequestFacts, command: OpenRequest | AskSession | AskPerson, kind: str) -> Conflict | None:
    """Refuse a question that is none of the open attempt's, or that its node does not ask."""
    of = facts.of
    if (refusal := open_attempt(of, facts.current, command.path, command.visit)) is not None:
        return refusal
    if command.attempt != of.run.attempt:
        return broken("attempt_not_open", node=of.run.node, visit=of.run.visit, attempt=of.run.attempt)
    spec = facts.definition.nodes.get(command.path)
    if spec is None or spec.kind not in ASKED_BY[kind]:
        return broken("no_executor", node=command.path)
    return None


def decide_ask(facts: RequestFacts, command: AskSession, request: str, order: int, by: str) -> Decision[str]:
    """Decide whether a question is put to the run's session; the run waits for the answer without a worker.

    Args:
        facts: The run and the newest request of its open attempt.
        command: What the worker asks.
        request: A new request ID.
        order: The next place among the session's messages.
        by: Who grants a pause that was asked for.
    """
    of, session = facts.of, facts.of.run.session
    if (refusal := refuse_asking(facts, command, command.kind)) is not None:
        return refusal
    if session is None:
        return broken("no_session", node=command.path)
    if (saved := facts.request) is not None:
        if saved.state == "open" and _asks(facts.opened, command):
            # A worker that came back to an open question waits for it as before.
            return Decided(saved.request, tuple(parked(of, "waiting", by)))
        return Conflict("revision_changed", {"request": saved.request, "state": saved.state})
    opened = RequestOpened(
        request=request,
        kind=command.kind,
        path=command.path,
        visit=command.visit,
        attempt=command.attempt,
        session=session,
        limit=command.limit,
        prompt=Content.text(command.prompt),
        contract=Content.json(command.contract),
    )
    asked: list[Event] = [opened]
    if not of.run.pause_requested:
        asked.append(_first_message(facts, command, request, order, session))
    return Decided(request, tuple(parked(of, "waiting", by, first=asked)))


def _first_message(facts: RequestFacts, command: AskSession, request: str, order: int, session: str) -> Event:
    run = facts.of.run
    return step_content(
        StepContent(
            run_id=run.run_id,
            workflow=run.workflow,
            request=request,
            kind=command.kind,
            path=command.path,
            visit=command.visit,
            attempt=command.attempt,
            contract=command.contract,
            prompt=command.prompt,
        ),
        ordinal=1,
        session=session,
        order=order,
        reason="initial",
    )


def decide_submit(facts: RequestFacts, command: SubmitCandidate, submission: str, actor: str) -> Decision[str]:
    """Decide a candidate that its executor handed in and the worker checked: accepted, or refused with a reason."""
    request = facts.request
    if request is None or request.request != command.request:
        return Conflict("not_found", {"what": "request", "id": command.request})
    if request.kind != "agent":
        return broken("takes_no_submission", request=request.request)
    if request.session is not None:
        # A session answers its own steps, with the evidence of its turns.
        return broken("answered_by_its_session", request=request.request)
    if request.state not in ("open", "validating"):
        return Conflict("revision_changed", {"request": request.request, "state": request.state})
    if request.refused >= MAX_REFUSED:
        return Conflict("validation_failed", {"request": request.request, "refused": request.refused})
    if not known_code(command.code):
        return broken("code_unfit", request=request.request)
    submitted = RequestSubmitted(
        request=request.request, submission=submission, key=submission, candidate=Content.json(command.candidate)
    )
    if command.refusal is None:
        accepted = RequestAccepted(request=request.request, submission=submission, source="agent")
        return Decided(submission, (submitted, accepted))
    rejected = RequestRejected(
        request=request.request,
        submission=submission,
        actor=actor,
        code=command.code or "output_invalid",
        reason=Content.text(error_text(command.refusal)),
    )
    return Decided(submission, (submitted, rejected))


def decide_close(facts: RequestFacts, command: CloseRequest) -> Decision[None]:
    """Decide that a request ends without an answer."""
    request = facts.request
    if request is None or request.request != command.request:
        return Conflict("not_found", {"what": "request", "id": command.request})
    if request.state == "closed" and request.cause == command.cause:
        return Adopted(None, facts.of.revision)
    if request.state not in ("open", "validating"):
        return Conflict("revision_changed", {"request": request.request, "state": request.state})
    return Decided(None, tuple(closed(request, command.cause, facts.asked)))


def _asks(opened: RequestOpened | None, command: OpenRequest | AskSession) -> bool:
    """Whether the saved question is the one that is asked again."""
    if opened is None or opened.prompt is None or opened.contract is None:
        return False
    return opened.prompt.value == command.prompt and encode(opened.contract.value) == encode(command.contract)
