"""Decisions: put to people, answered by one of them or by the policy that the deadline names (page 07)."""

from datetime import UTC, datetime, timedelta
from typing import Final

from attrs import frozen

from runwright.engine.commands.client import Caller, DecideRequest
from runwright.engine.commands.worker import AskPerson
from runwright.engine.decisions.decided import Decided, Decision, TurnedAway, broken
from runwright.engine.decisions.facts import RequestFacts, RunFacts, Tree, Unsettled
from runwright.engine.decisions.fingerprint import question_digest
from runwright.engine.decisions.message import decision_message
from runwright.engine.decisions.parking import parked
from runwright.engine.decisions.request import refuse_asking
from runwright.engine.decisions.settling import taken
from runwright.engine.results import Adopted, Conflict
from runwright.engine.safe import error_text
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.request import RequestAccepted, RequestOpened, RequestRefused, RequestSubmitted
from runwright.eventstore.events.timer import TimerFired, TimerSet
from runwright.eventstore.values import Json, JsonObject, encode
from runwright.projections.control.requests import RequestRow

#: Who decides where nobody did in time; as submission and as the name that the output holds.
POLICY: Final = "policy"

#: Bytes of a person's name, and of the text beside a choice.
MAX_NAME: Final = 200
MAX_TEXT: Final = 64 * 1_024

#: Refused answers that are written down of one question, whoever gave them; a model that never stops fills no log.
MAX_REFUSALS: Final = 50

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@frozen(kw_only=True)
class DecisionFacts:
    """What a person's answer is decided on.

    Attributes:
        of: The run that asked.
        request: Its request.
        opened: The event that asked it.
        accepted: The canonical text of the answer that was accepted before, where one was.
        unsettled: What the run holds.
    """

    of: RunFacts
    request: RequestRow
    opened: RequestOpened | None
    accepted: str | None
    unsettled: Unsettled


# --- asking -------------------------------------------------------------------------------------------------------


def decide_ask_person(
    facts: RequestFacts, command: AskPerson, request: str, order: int, tree: Tree | None, by: str
) -> Decision[str]:
    """Decide whether a question is put to people; the run waits for the answer without a worker.

    Args:
        facts: The run and the newest request of its open attempt.
        command: What the worker asks.
        request: A new request ID.
        order: The next place among the session's messages, where the run has one.
        tree: The secret of the run's tree, which the digest is made with.
        by: Who grants a pause that was asked for.
    """
    of, spec = facts.of, facts.definition.nodes.get(command.path)
    if (refusal := refuse_asking(facts, command, "decision")) is not None or spec is None:
        return refusal or broken("no_executor", node=command.path)
    if (saved := facts.request) is not None:
        if saved.state == "open":
            # A worker that came back to an open question waits for it as before.
            return Decided(saved.request, tuple(parked(of, "waiting", by)))
        return Conflict("revision_changed", {"request": saved.request, "state": saved.state})
    shown: JsonObject = {
        "facts": command.facts,
        "choices": command.choices,
        "audience": spec.audience,
        "on_timeout": spec.on_timeout,
    }
    digest = None
    if tree is not None:
        digest = question_digest(tree, [command.subject, command.title, shown, command.deadline])
    opened = RequestOpened(
        request=request,
        kind="decision",
        path=command.path,
        visit=command.visit,
        attempt=command.attempt,
        session=of.run.session,
        deadline=command.deadline,
        protected=True,
        digest=digest,
        prompt=Content.text(command.title),
        contract=Content.json({"type": "string", "enum": list(spec.choices)}),
        subject=Content.json(command.subject),
        presentation=Content.json(shown),
    )
    events: list[Event] = [opened]
    if of.run.session is not None:
        events.append(decision_message(of.run, opened, order))
    if command.deadline is not None:
        events.append(TimerSet(kind="deadline", due=command.deadline))
    return Decided(request, tuple(parked(of, "waiting", by, first=events)))


# --- answering ----------------------------------------------------------------------------------------------------


def decide_decision(
    facts: DecisionFacts, command: DecideRequest, caller: Caller, submission: str
) -> Decision[str] | TurnedAway:
    """Decide whether a choice is the answer; what is refused about a decision is written down as well.

    Args:
        facts: The request and its run.
        command: What was chosen.
        caller: Who says so.
        submission: A new submission ID.
    """
    of, request = facts.of, facts.request
    if request.kind != "decision":
        rule: dict[str, Json] = {"rule": "no_decision", "kind": request.kind}
        return Conflict("protocol_rejected", {"request": request.request, "run": request.run_id, **rule})
    candidate: JsonObject = {"choice": command.choice, "text": command.text, "by": command.by}
    if caller.person and request.state == "accepted" and facts.accepted == encode(candidate):
        return Adopted(of.run.run_id, of.revision)
    refusal = _refuse(facts, command, caller)
    if refusal is not None:
        return refusal if refusal.code == "paused" else turned_away(of, request, refusal, submission, caller, candidate)
    accepted = (
        RequestSubmitted(
            request=request.request,
            submission=submission,
            key=submission,
            source="person",
            candidate=Content.json(candidate),
        ),
        RequestAccepted(request=request.request, submission=submission, source="person"),
    )
    output = decided_output(command.choice, command.text, command.by, of.now, timed_out=False)
    held = facts.unsettled
    follows = taken(of, request, output, messages=held.messages, timers=held.timers)
    return Decided(of.run.run_id, (*accepted, *follows))


def turned_away(
    of: RunFacts, request: RequestRow, conflict: Conflict, submission: str, caller: Caller, said: Json
) -> TurnedAway | Conflict:
    """Refuse an answer to a decision, and write down who gave it and what it was, of the first ones.

    Of a run that has ended not what it was: its private values may have been erased already.
    """
    if _refusals(request) >= MAX_REFUSALS:
        return conflict
    refused = RequestRefused(
        request=request.request,
        submission=submission,
        actor=caller.actor,
        code=conflict.code,
        reason=None if of.ended else Content.text(error_text(encode(said))),
    )
    return TurnedAway(conflict, (refused,))


def _refusals(request: RequestRow) -> int:
    """How many refused answers to a decision are written down: each is a revision, as are its beginning and its end."""
    accepted = 2 if request.source == POLICY else 3
    return request.revision - {"closed": 2, "accepted": accepted}.get(request.state, 1)


def by_policy(of: RunFacts, request: RequestRow, choice: str, unsettled: Unsettled) -> list[Event]:
    """Nobody decided in time: the choice that the workflow named for that is made, and labelled as what it is."""
    output = decided_output(choice, None, POLICY, of.now, timed_out=True)
    timers = [each for each in unsettled.timers if each.kind != "deadline"]
    follows = taken(of, request, output, messages=unsettled.messages, timers=timers, cause="deadline")
    accepted = RequestAccepted(request=request.request, submission=POLICY, source="policy")
    return [TimerFired(kind="deadline"), accepted, *follows]


def decided_output(choice: str, text: str | None, by: str, now: int, *, timed_out: bool) -> JsonObject:
    """A `Decided` as the node's output is stored."""
    at = (_EPOCH + timedelta(microseconds=now)).isoformat()
    return {"choice": choice, "text": text, "by": by, "at": at, "timed_out": timed_out}


def _refuse(facts: DecisionFacts, command: DecideRequest, caller: Caller) -> Conflict | None:
    """Say why this is not the answer: authority, state, pause, digest, and then what was said."""
    of, request = facts.of, facts.request
    evidence: dict[str, Json] = {"request": request.request, "run": request.run_id}
    if not caller.person:
        return Conflict("human_required", {**evidence, "kind": request.kind})
    if request.state != "open":
        return Conflict("revision_changed", {**evidence, "state": request.state, **_settled(request)})
    if of.run.paused or of.run.pause_requested:
        return Conflict("paused", {"run": request.run_id})
    if command.digest is not None and command.digest != request.digest:
        return Conflict("revision_changed", {**evidence, "stale": command.digest, "digest": request.digest})
    return _refuse_words(command, _choices(facts.opened))


def _settled(request: RequestRow) -> dict[str, Json]:
    return {"cause": request.cause} if request.state == "closed" else {"source": request.source}


def _refuse_words(command: DecideRequest, choices: dict[str, str | None]) -> Conflict | None:
    """Hold what was said against what could be said."""
    if command.choice not in choices:
        return _unfit("choice", f"is none of {', '.join(choices)}")
    if command.text is not None and choices[command.choice] is None:
        return _unfit("text", f"goes with no choice of {command.choice}, which takes none")
    if command.text is not None and len(command.text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
        return _unfit("text", f"has more than {MAX_TEXT} bytes")
    if not command.by.strip() or len(command.by.encode("utf-8", "surrogatepass")) > MAX_NAME:
        return _unfit("by", f"names nobody, or with more than {MAX_NAME} bytes")
    return None


def _unfit(path: str, problem: str) -> Conflict:
    return Conflict("input_invalid", {"path": path, "problem": problem})


def _choices(opened: RequestOpened | None) -> dict[str, str | None]:
    """The names that can be chosen, each with the hint of its text where it takes one."""
    shown = None if opened is None or opened.presentation is None else opened.presentation.value
    listed = shown.get("choices") if isinstance(shown, dict) else None
    found: dict[str, str | None] = {}
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict):
            hint = each.get("text")
            found[str(each.get("name"))] = hint if isinstance(hint, str) else None
    return found
