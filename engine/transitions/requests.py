"""Carrying out what is said about requests: a person's decision, a candidate, its verdict, progress."""

from collections.abc import Callable

from runwright.engine.commands.client import Caller, DecideRequest, SubmitAnswer, UpdateRequest
from runwright.engine.commands.host import JudgeSubmission
from runwright.engine.commands.session import QueueFollowUp
from runwright.engine.decisions.decided import Decided, Decision, TurnedAway
from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.person import DecisionFacts, decide_decision
from runwright.engine.decisions.session import check_epoch
from runwright.engine.decisions.submission import (
    SubmissionFacts,
    decide_request_update,
    decide_submission,
    decide_verdict,
)
from runwright.engine.results import Conflict, Result
from runwright.engine.transitions.carry import carry_out
from runwright.engine.transitions.facts import FactsLoader
from runwright.engine.transitions.reporting import Reporting
from runwright.eventstore.envelope import Appended
from runwright.eventstore.events.request import RequestOpened, RequestSubmitted
from runwright.eventstore.values import encode
from runwright.projections.control.requests import REQUESTS, RequestRow
from runwright.projections.control.sessions import SESSIONS

Placed = Callable[[Appended], object]


def check_speaker(loader: FactsLoader, command: object) -> Conflict | None:
    """Check the live authority of whoever speaks for a session, before anything else is looked at."""
    if not isinstance(command, SubmitAnswer | UpdateRequest | QueueFollowUp) or command.session is None:
        return None
    return check_epoch(loader.rows.get(SESSIONS, command.session), command.session, command.epoch)


def say(
    loader: FactsLoader,
    command: DecideRequest | SubmitAnswer | UpdateRequest,
    caller: Caller,
    submission: str,
    reporting: Reporting,
    appended: Placed,
) -> Result[str]:
    """Carry out what a person, a program or a model says about a request.

    Args:
        loader: The facts.
        command: What is said.
        caller: Who says it.
        submission: A new submission ID.
        reporting: How much progress was reported before.
        appended: Told where the events stand.
    """
    request = loader.rows.get(REQUESTS, command.request)
    of = None if request is None else loader.run(request.run_id)
    if request is None or of is None:
        return Conflict("not_found", {"what": "request", "id": command.request})
    decision: Decision[str] | TurnedAway
    match command:
        case DecideRequest():
            decision = decide_decision(_decision_facts(loader, of, request), command, caller, submission)
        case SubmitAnswer():
            decision = decide_submission(_submission_facts(loader, of, request), command, caller, submission)
        case UpdateRequest():
            decision = decide_request_update(_submission_facts(loader, of, request), command, caller)
            if isinstance(decision, Decided):
                decision = reporting.take(request, command) or decision
    if isinstance(decision, TurnedAway):
        return turn_away(loader, of, decision, caller)
    return carry_out(loader.tx, of, decision, actor=caller.actor, command=caller.key, appended=appended)


def turn_away(loader: FactsLoader, of: RunFacts, decision: TurnedAway, caller: Caller) -> Conflict:
    """Write down that an answer was given, and refuse it; a refusal leaves no receipt."""
    stream = f"run/{of.run.run_id}"
    loader.tx.append(stream, of.revision, decision.events, actor=caller.actor, command=caller.key)
    return decision.conflict


def verdict(loader: FactsLoader, of: RunFacts, command: JudgeSubmission, actor: str) -> Decision[str]:
    """Decide what becomes of a candidate that was checked."""
    request = loader.rows.get(REQUESTS, command.request)
    if request is None or request.run_id != of.run.run_id:
        return Conflict("not_found", {"what": "request", "id": command.request})
    return decide_verdict(_submission_facts(loader, of, request), command, actor)


def policy_of(loader: FactsLoader, of: RunFacts) -> str | None:
    """The choice that a run's open decision makes when its deadline has passed; ``None`` where there is none."""
    for request in loader.rows.find(REQUESTS, run_id=of.run.run_id, state="open"):
        opened = _opened(loader, request) if request.kind == "decision" else None
        shown = None if opened is None or opened.presentation is None else opened.presentation.value
        choice = shown.get("on_timeout") if isinstance(shown, dict) else None
        if isinstance(choice, str):
            return choice
    return None


def _decision_facts(loader: FactsLoader, of: RunFacts, request: RequestRow) -> DecisionFacts:
    submitted = _submitted(loader, request)
    candidate = None if submitted is None else submitted.candidate
    return DecisionFacts(
        of=of,
        request=request,
        opened=_opened(loader, request),
        accepted=None if candidate is None or request.state != "accepted" else encode(candidate.value),
        unsettled=loader.unsettled(of, ending=False),
    )


def _submission_facts(loader: FactsLoader, of: RunFacts, request: RequestRow) -> SubmissionFacts:
    return SubmissionFacts(
        of=of,
        request=request,
        step=loader.step(of, request),
        submitted=_submitted(loader, request),
        unsettled=loader.unsettled(of, ending=False),
    )


def _opened(loader: FactsLoader, request: RequestRow) -> RequestOpened | None:
    recorded = loader.tx.event(request.opened)
    event = None if recorded is None else recorded.event
    return event if isinstance(event, RequestOpened) else None


def _submitted(loader: FactsLoader, request: RequestRow) -> RequestSubmitted | None:
    recorded = None if request.candidate is None else loader.tx.event(request.candidate)
    event = None if recorded is None else recorded.event
    return event if isinstance(event, RequestSubmitted) else None
