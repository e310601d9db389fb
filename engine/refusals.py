"""What refusals say: a sentence for each code, filled in with the facts that show it, and the next step."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from runwright.engine.codes import HINTS
from runwright.eventstore.values import Json
from runwright.projections.views.lines import agent_line, lacking_executors, spec_of

#: What each refusal says; the evidence fills it in where it can.
_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "not_started": "Run {run} has not started yet.",
        "not_parked": "Run {run} is {state} and does not wait for a resume.",
        "already_terminal": "Run {run} has ended already ({outcome}).",
        "parent_invalid": "Run {run} cannot be restarted like this ({outcome}).",
        "human_required": "Only a person can answer request {request} of run {run}.",
        "input_cleared": "The input of run {run} was erased.",
        "restart_no_progress": "Run {run} has been restarted without getting anywhere.",
        "still_live": "Run {run} is still live.",
        "paused": "Run {run} is paused.",
        "key_reused": "The key was used before for another command (run {run}).",
        "revision_changed": "The facts have changed since they were read.",
        "not_found": "There is no {what} {id}.",
        "claim_lost": "The claim on run {run} is gone ({reason}).",
        "effect_ambiguous": "Nobody can tell whether an effect of run {run} happened.",
        "effect_request_changed": "Effect {effect} was asked for again with another request.",
        "max_steps_exceeded": "Run {run} has used all of its {max_steps} steps.",
        "payload_too_large": "A value is over its limit of {limit} bytes.",
        "input_invalid": "What was handed in cannot be used: {path} {problem}.",
        "presentation_pending": "Session {session} is still answering how run {run} ended.",
        "start_no_progress": "Too many runs in a row were started by the end of another, the last by that of {run}.",
        "unsupported": "The workflow was recorded by a version of runwright that this one cannot follow.",
        "session_busy": "Session {session} is held by run {run} of workflow {workflow}, queued {since}.",
    }
)


class _Facts(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "?"


#: Why changed sources cannot be accepted, said of the node that the run stands at.
_PROBLEMS: Mapping[str, str] = MappingProxyType(
    {
        "vanished": "is gone",
        "kind_changed": "is of another kind",
        "effect_changed": "has another effect, and its own is not settled",
    }
)


#: How many characters of a digest tell two of them apart.
_DIGEST: Final = 12


def named(files: Sequence[str]) -> str:
    """The first of some files in brackets, and how many more there are; nothing where there are none."""
    shown = [*files[:5], *([f"and {len(files) - 5} more"] if len(files) > 5 else [])]
    return f" ({', '.join(shown)})" if shown else ""


def _changed_sources(evidence: Mapping[str, Json]) -> str:
    files = evidence.get("files")
    listed = named([str(each) for each in files]) if isinstance(files, list) else ""
    problem = _PROBLEMS.get(str(evidence.get("problem")))
    unfit = f"; it cannot carry it on: the node {evidence.get('node')} {problem}" if problem else ""
    run, digests = evidence.get("run"), _digests(evidence)
    return f"The workflow of run {run} is not the one it was started with{listed}{digests}{unfit}."


def _digests(evidence: Mapping[str, Json]) -> str:
    """What was saved and what stands there now, by the digests of the files, or else of the definitions."""
    for what in ("sources", "definition"):
        old, new = evidence.get(f"old_{what}"), evidence.get(f"new_{what}")
        if isinstance(old, str) and isinstance(new, str) and old != new:
            return f": saved {old[:_DIGEST]}, now {new[:_DIGEST]}"
    return ""


#: Why a request does not take what was handed in for it.
_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "foreign_session": "Request {request} of run {run} is not put to session {session}.",
        "takes_no_submission": "Request {request} of run {run} is of kind {kind} and takes no submission.",
        "decided_by_a_person": "Request {request} of run {run} is a decision, which is made and not submitted.",
        "no_decision": "Request {request} of run {run} is of kind {kind} and no decision.",
        "too_many_updates": "Progress of run {run} comes more often than {limit} times a second.",
        "too_many_names": "Progress of run {run} comes under more than {limit} names.",
        "answered_by_its_session": "Request {request} of run {run} is answered by the session that it is put to.",
    }
)

#: Who has answered a request already.
_SOURCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agent": "by its agent",
        "person": "by a person",
        "policy": "by the choice that the workflow makes when nobody answered in time",
    }
)


def _about_request(code: str, evidence: Mapping[str, Json]) -> str | None:
    """What a refusal says of a request, where its evidence knows more than its code."""
    at = _Facts(evidence)
    match code:
        case "protocol_rejected" if str(evidence.get("rule")) in _RULES:
            return _RULES[str(evidence["rule"])].format_map(at)
        case "revision_changed" if "stale" in evidence:
            return "What was decided on is not what request {request} of run {run} asks now.".format_map(at)
        case "revision_changed" if evidence.get("state") == "validating":
            return "Another answer to request {request} of run {run} is being checked.".format_map(at)
        case "revision_changed" if evidence.get("state") == "closed" and "cause" in evidence:
            return "Request {request} of run {run} is closed ({cause}).".format_map(at)
        case "revision_changed" if "source" in evidence or evidence.get("state") == "accepted":
            by = _SOURCES.get(str(evidence.get("source")))
            words = f" {by}" if by else ""
            return f"Request {evidence.get('request')} of run {evidence.get('run')} was answered already{words}."
        case _:
            return None


def sentence(code: str, evidence: Mapping[str, Json]) -> str:
    """What a refusal says, filled in with the facts that show it."""
    if code == "source_changed":
        return _changed_sources(evidence)
    if (said := _about_request(code, evidence)) is not None:
        return said
    if code == "already_terminal" and "last" in evidence:
        return f"Run {evidence.get('run')} was answered already, and run {evidence['last']} carries it on."
    if code == "revision_changed" and "effect" in evidence and "run" in evidence:
        at = _Facts(evidence)
        return "Effect {effect} of run {run} is not ambiguous any more: it is {state}.".format_map(at)
    if code == "parent_invalid" and "last" in evidence:
        return f"Run {evidence.get('run')} was carried on by run {evidence['last']}, which can be restarted instead."
    if code == "parent_invalid" and "mount" in evidence:
        node, mount = evidence.get("node"), evidence["mount"]
        return f"A run cannot be restarted inside a mounted workflow: {node} stands in {mount}."
    if code == "still_live" and "request" in evidence:
        return (
            f"The executor of node {evidence.get('node')} is at work on request {evidence['request']} "
            f"of run {evidence.get('run')} right now."
        )
    if code == "still_live" and "accept" in evidence:
        return f"Run {evidence.get('run')} is at work with the files that it was started with, and keeps to them."
    if code == "claim_lost" and "session" in evidence:
        session, reason = evidence["session"], evidence.get("reason")
        return (
            f"Only the coordinator that attached to session {session} last speaks for it, under its epoch ({reason})."
        )
    pattern = _SENTENCES.get(code)
    if pattern is None:
        return f"The command was refused ({code.replace('_', ' ')})."
    return pattern.format_map(_Facts(evidence))


def next_step(code: str, evidence: Mapping[str, Json]) -> str:
    """The next step after a refusal: that of its code, but for where the evidence knows a better one."""
    match code:
        case "already_terminal" if "last" in evidence:
            return f"`runwright status {evidence['last']}` shows how that stands"
        case "revision_changed" if "effect" in evidence and "run" in evidence:
            return "`runwright effect EFFECT` shows what became of it"
        case "revision_changed" if evidence.get("state") in ("accepted", "closed"):
            return "`runwright show RUN` shows what became of it"
        case "parent_invalid" if "last" in evidence:
            return f"`runwright restart {evidence['last']}`"
        case "parent_invalid" if "mount" in evidence:
            return f"begin at a node that comes before {evidence['mount']}, or at the first one"
        case "still_live" if "request" in evidence:
            return "let it answer, or stop what drives the run and answer then"
        case "still_live" if "accept" in evidence:
            run = str(evidence.get("run"))
            return f"pause it first: `runwright pause {run}`, then `{agent_line('resume', run, accept_source=True)}`"
        case "environment_missing" if lacking := lacking_executors(str(evidence.get("detail"))):
            line = agent_line("resume", str(evidence.get("run")), agents=map(spec_of, lacking))
            return f"`{line}` hands it over; a program, when it opens the engine"
        case "source_changed" if evidence.get("started") is False:
            return "it has not begun and takes no other files: put them back, or cancel it and start it again"
        case "claim_lost" if "session" in evidence:
            return "attach to the session again; that ends what another coordinator holds"
        case "input_invalid":
            return "correct it, then ask again"
        case "protocol_rejected" if evidence.get("rule") == "too_many_updates":
            return "report again in a moment; the newest of each name is what is shown"
        case "protocol_rejected" if evidence.get("rule") == "too_many_names":
            return "report under a name that was used before"
        case "protocol_rejected" if str(evidence.get("rule")) in _RULES:
            return "`runwright requests` shows what waits for an answer, and how each is answered"
        case _:
            return HINTS.get(code, "")
