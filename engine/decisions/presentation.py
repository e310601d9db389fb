"""Telling a session how a run ended: the message that an end owes, and what stands in its way (page 07)."""

from typing import Final

from attrs import frozen

from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.session import MAX_DEPTH
from runwright.engine.results import Adopted, Conflict
from runwright.engine.rundata import Found, MediaTypeMismatch, Missing, Redacted, TerminalFacts, Value
from runwright.engine.safe import cut, safe_message
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.message import MessageQueued
from runwright.eventstore.events.worker import PresentationAbandoned, PresentationFailed, PresentationPrepared
from runwright.eventstore.values import Json, encode
from runwright.projections.control.terminal import TerminalRow
from runwright.projections.shown import shown_time

LAUNCH_FAILURE_SCHEMA: Final = "runwright.launch-failure.v1"
TERMINAL_SCHEMA: Final = "runwright.terminal.v1"

#: Bytes of each value that a message quotes, and of the instructions; the whole is a command away.
MAX_QUOTED: Final = 32 * 1_024
MAX_INSTRUCTIONS: Final = 64 * 1_024
#: Runs of a chain that a message tells of.
MAX_ANCESTORS: Final = 20


@frozen
class PresentationFacts:
    """What telling of an end is decided on.

    Attributes:
        of: The run.
        terminal: How it ended; ``None`` where it lives, or was continued.
        facts: The same with the values, by the typed readers.
        order: The next place among the session's messages.
    """

    of: RunFacts
    terminal: TerminalRow | None
    facts: TerminalFacts | None
    order: int


def decide_present(facts: PresentationFacts, instructions: str | None) -> Decision[str]:
    """Decide the one message that an end owes its session; its value says what became of the presentation.

    What cannot be read is a failure of the presentation, recorded as one, and never of the run.
    """
    settled = _open(facts)
    if not isinstance(settled, TerminalRow):
        return settled
    attempt = settled.attempts + 1
    problem = _problem(facts)
    if isinstance(problem, Redacted):
        return Decided("abandoned", (PresentationAbandoned(code="redacted"),))
    if problem is not None:
        code, reason = problem
        return Decided("failed", (PresentationFailed(attempt=attempt, code=code, reason=reason),))
    text = None if not instructions else cut(instructions, MAX_INSTRUCTIONS)
    prepared = PresentationPrepared(attempt=attempt, instructions=None if text is None else Content.text(text))
    launch = settled.message_due == "launch_failure"
    message = _launch_failure(facts, settled) if launch else _terminal(facts, text)
    return Decided("prepared", (prepared, message))


def decide_present_failed(facts: PresentationFacts, code: str, reason: str) -> Decision[str]:
    """Decide that an end could not be told of this time; it changes nothing else."""
    settled = _open(facts)
    if not isinstance(settled, TerminalRow):
        return settled
    if isinstance(_problem(facts), Redacted):
        # Its function need not be there, nor do, any more.
        return Decided("abandoned", (PresentationAbandoned(code="redacted"),))
    failed = PresentationFailed(attempt=settled.attempts + 1, code=code, reason=safe_message(reason))
    return Decided("failed", (failed,))


def _open(facts: PresentationFacts) -> TerminalRow | Adopted[str] | Conflict:
    terminal, of = facts.terminal, facts.of
    if terminal is None:
        if of.ended:
            return Adopted("none", of.revision)
        return Conflict("still_live", {"run": of.run.run_id})
    if terminal.presentation not in ("pending", "failed"):
        return Adopted(terminal.presentation, of.revision)
    return terminal


def _problem(facts: PresentationFacts) -> Redacted | tuple[str, str] | None:
    """What stands in the way of telling: a value that was erased, is gone, or has another type."""
    told = facts.facts
    if told is None:
        return "facts_missing", "The facts of the end cannot be read."
    for each in (told, *told.ancestors):
        for value, expected in ((each.output, each.has_output), (each.error, each.has_error)):
            own = each is told
            if isinstance(value, Redacted) and own:
                return value
            if isinstance(value, MediaTypeMismatch):
                return "media_type", f"The {value.field} of run {value.run_id} is {value.stored}, not {value.declared}."
            if isinstance(value, Missing) and expected:
                return "value_missing", f"The {value.field} of run {value.run_id} is missing."
    return None


def launch_failure_text(workflow: str, run_id: str, message: str) -> str:
    """What a session is told of a launch that failed."""
    return f"Workflow {workflow} failed to start (run {run_id}): {message} Correct the cause, then call start again."


def _launch_failure(facts: PresentationFacts, terminal: TerminalRow) -> MessageQueued:
    run = facts.of.run
    message = f"launch_failure:{run.run_id}"
    safe = terminal.message or safe_message("")
    content: dict[str, Json] = {
        "schema": LAUNCH_FAILURE_SCHEMA,
        "messageId": message,
        "runId": run.run_id,
        "workflow": run.workflow,
        "state": "failed",
        "code": terminal.code,
        "message": safe,
    }
    text = launch_failure_text(run.workflow, run.run_id, safe)
    return _message(facts, message, "launch_failure", content, text, starts_turn=True)


def _terminal(facts: PresentationFacts, instructions: str | None) -> MessageQueued:
    run, told = facts.of.run, facts.facts
    assert told is not None, "checked before"
    message = f"terminal:{run.run_id}"
    content: dict[str, Json] = {
        "schema": TERMINAL_SCHEMA,
        "messageId": message,
        **_told(told),
        "earlier": [_told(each) for each in told.ancestors[:MAX_ANCESTORS]],
        "earlierLeftOut": max(0, len(told.ancestors) - MAX_ANCESTORS),
        "instructions": instructions,
    }
    return _message(
        facts, message, "terminal", content, _terminal_text(told, instructions), starts_turn=instructions is not None
    )


def _message(
    facts: PresentationFacts, message: str, kind: str, content: dict[str, Json], text: str, *, starts_turn: bool
) -> MessageQueued:
    run = facts.of.run
    assert run.session is not None, "an end without a session owes nothing"
    return MessageQueued(
        message=message,
        kind=kind,
        session=run.session,
        order=facts.order,
        source=run.run_id,
        # A chain of starts that only messages caused ends here: the last one is told without waking anybody.
        starts_turn=starts_turn and run.depth < MAX_DEPTH,
        content=Content.json(content),
        text=Content.text(text),
    )


def _told(facts: TerminalFacts) -> dict[str, Json]:
    return {
        "runId": facts.run_id,
        "workflow": facts.workflow,
        "outcome": facts.outcome,
        "code": facts.code,
        "message": facts.message,
        "finishedAt": shown_time(facts.finished_at),
        "result": _quoted(facts.output),
        "error": _quoted(facts.error),
    }


def _quoted(value: Value) -> Json:
    """A value quoted as data: what it is, or why it is not there."""
    match value:
        case Found(found):
            text = found if isinstance(found, str) else encode(found)
            short = cut(text, MAX_QUOTED)
            return {"value": found} if short == text else {"cut": short, "bytes": len(text.encode("utf-8", "replace"))}
        case Redacted():
            return {"missing": "redacted"}
        case _:
            return None


def _terminal_text(facts: TerminalFacts, instructions: str | None) -> str:
    words = {"completed": "completed", "timed_out": "timed out", "failed": "failed", "cancelled": "was cancelled"}
    parts = [f"Workflow {facts.workflow} {words[facts.outcome]} (run {facts.run_id})."]
    if facts.code is not None:
        parts.append(f"{facts.code}: {facts.message}")
    for name, value in (("Result", facts.output), ("Error", facts.error)):
        if isinstance(value, Found):
            parts.append(f"{name}, quoted as data:\n{cut(encode(value.value), MAX_QUOTED)}")
    for each in facts.ancestors[:MAX_ANCESTORS]:
        because = "" if each.code is None else f" ({each.code})"
        parts.append(f"Before it, run {each.run_id} of the same chain was {each.outcome}{because}.")
    if instructions is not None:
        parts.append(instructions)
    return "\n\n".join(parts)
