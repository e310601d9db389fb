"""Runs that follow from other runs: restarts, and the children of answered checkpoints."""

from collections.abc import Callable

from runwright.engine.commands.client import AnswerRequest, Caller, RestartRun
from runwright.engine.decisions.answering import AnswerFacts, Continued, continuation, decide_answer
from runwright.engine.decisions.decided import Decided, TurnedAway
from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.restarting import Before, RestartFacts, decide_restart, stood_on
from runwright.engine.decisions.session import Origin
from runwright.engine.results import Applied, Conflict, Result
from runwright.engine.transitions.carry import carry_out, no_run
from runwright.engine.transitions.chains import last_of_chain
from runwright.engine.transitions.facts import FactsLoader
from runwright.engine.transitions.requests import turn_away
from runwright.eventstore.envelope import NEW, Appended
from runwright.eventstore.events.request import RequestSubmitted
from runwright.eventstore.values import encode
from runwright.projections.control.mounts import MOUNTS
from runwright.projections.control.requests import REQUESTS, RequestRow
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.visits import VISITS

Placed = Callable[[Appended], object]


def restart(
    loader: FactsLoader,
    command: RestartRun,
    caller: Caller,
    before: Before | None,
    origin: Callable[[str | None], Origin],
    appended: Placed,
) -> Result[str]:
    """Queue a fresh run of an ended run's root.

    Args:
        loader: The facts.
        command: What was asked.
        caller: Who asks.
        before: How the parent stood before it last came to the node that the restart begins at.
        origin: Tells how a session stands that a new run would hold.
        appended: Told where the events stand.
    """
    parent = loader.run(command.run_id)
    if parent is None:
        return no_run(command.run_id)
    if command.expected not in (None, parent.revision):
        return Conflict(
            "revision_changed", {"run": command.run_id, "expected": command.expected, "actual": parent.revision}
        )
    decision = decide_restart(_restart_facts(loader, parent, command, before, origin), command, caller)
    if not isinstance(decision, Decided):
        return decision
    stream = f"run/{command.new_run_id}"
    placed = loader.tx.append(stream, NEW, decision.events, actor=caller.actor, command=caller.key)
    appended(placed)
    return Applied(decision.value, placed.version)


def answer(
    loader: FactsLoader, command: AnswerRequest, caller: Caller, submission: str, appended: Placed
) -> Result[str]:
    """Accept an answer, and carry the run on: all of it, or nothing.

    Args:
        loader: The facts.
        command: What was answered.
        caller: Who answers.
        submission: A new submission ID.
        appended: Told where the events stand.
    """
    request = loader.rows.get(REQUESTS, command.request)
    of = None if request is None else loader.run(request.run_id)
    if request is None or of is None:
        return Conflict("not_found", {"what": "request", "id": command.request})
    facts = _answer_facts(loader, of, request)
    decision = decide_answer(facts, command, caller, submission)
    if isinstance(decision, TurnedAway):
        return turn_away(loader, of, decision, caller)
    if not isinstance(decision, Continued):
        return carry_out(loader.tx, of, decision, actor=caller.actor, command=caller.key, appended=appended)
    return _continue(loader, facts, decision, caller, appended)


def _continue(
    loader: FactsLoader, facts: AnswerFacts, decision: Continued, caller: Caller, appended: Placed
) -> Result[str]:
    """End the parent and queue the child, in this order: the session goes from one to the other."""
    tx, of = loader.tx, facts.of
    if tx.version(f"run/{decision.child}"):
        return Conflict("key_reused", {"run": decision.child, "operation": "request.answer"})
    with tx.whole():
        parent = tx.append(f"run/{of.run.run_id}", of.revision, decision.parent, actor=caller.actor, command=caller.key)
        begins = continuation(facts, parent.first + decision.answer)
        child = tx.append(f"run/{decision.child}", NEW, begins, actor=caller.actor, command=caller.key)
    appended(parent)
    return Applied(decision.child, child.version)


def _restart_facts(
    loader: FactsLoader,
    parent: RunFacts,
    command: RestartRun,
    before: Before | None,
    origin: Callable[[str | None], Origin],
) -> RestartFacts:
    rows, run = loader.rows, parent.run
    root = rows.get(RUNS, run.root)
    assert root is not None, "a chain begins with its root"
    terminal = rows.get(TERMINAL, run.run_id)
    recorded = None if root.input is None else loader.tx.event(root.input)
    tree = rows.find(RUNS, root=root.run_id)
    return RestartFacts(
        parent=parent,
        root=root,
        definition=loader.saved((stood_on(root, run, command) or root).definition),
        terminal=terminal,
        last=last_of_chain(rows, run).run_id,
        input_there=recorded is not None and recorded.body is not None,
        restarts=sum(1 for each in tree if each.kind == "restart"),
        repeats=_repeats(loader, run, None if terminal is None else terminal.fingerprint),
        origin=origin(root.session),
        twin=rows.get(RUNS, command.new_run_id),
        before=before,
    )


def _repeats(loader: FactsLoader, run: RunRow, fingerprint: str | None) -> int:
    """How many runs of a line, from this one back to its root, ended with the same fingerprint."""
    repeats = 0
    at: RunRow | None = run
    while at is not None and fingerprint is not None:
        end = loader.rows.get(TERMINAL, at.run_id)
        repeats += end is not None and end.fingerprint == fingerprint
        at = None if at.parent is None else loader.rows.get(RUNS, at.parent)
    return repeats


def _answer_facts(loader: FactsLoader, of: RunFacts, request: RequestRow) -> AnswerFacts:
    rows, run_id = loader.rows, of.run.run_id
    return AnswerFacts(
        of=of,
        request=request,
        accepted=_accepted(loader, request) if request.state == "accepted" else None,
        unsettled=loader.unsettled(of, ending=False),
        visits=tuple(rows.find(VISITS, run_id=run_id)),
        mounts=tuple(rows.find(MOUNTS, run_id=run_id)),
    )


def _accepted(loader: FactsLoader, request: RequestRow) -> str | None:
    """The canonical text of the answer that was accepted, where it was not erased."""
    recorded = None if request.candidate is None else loader.tx.event(request.candidate)
    event = None if recorded is None else recorded.event
    if not isinstance(event, RequestSubmitted) or event.candidate is None:
        return None
    return encode(event.candidate.value)
