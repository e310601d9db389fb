"""Carrying a decision out: append, erase, answer; nothing but a typed result comes back (law 4)."""

from collections.abc import Callable
from typing import Final, TypeVar

from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import RunFacts
from runwright.engine.results import Applied, Conflict, Result
from runwright.engine.transitions.chains import drop_follow_ups
from runwright.engine.transitions.definitions import DefinitionUnreadable
from runwright.eventstore.envelope import Appended
from runwright.eventstore.errors import PayloadTooLarge, ValueRefused
from runwright.eventstore.events.run import RunCancelled, RunFailed, RunTimedOut
from runwright.eventstore.transaction import Tx
from runwright.projections.errors import ImpossibleEvent

V = TypeVar("V")

#: Ends of a run that are no completion.
BAD_ENDS: Final = (RunFailed, RunTimedOut, RunCancelled)

#: What a decision, or the append of its events, may be refused with; all of it happens before anything changes.
REFUSALS: Final = (PayloadTooLarge, ValueRefused, DefinitionUnreadable, ImpossibleEvent)


def carry_out(
    tx: Tx,
    of: RunFacts,
    decision: Decision[V],
    *,
    actor: str,
    generation: int | None = None,
    command: str | None = None,
    appended: Callable[[Appended], object] | None = None,
) -> Result[V]:
    """Append what was decided to the run's stream, and what goes with it to its chain's; all of it or nothing.

    Args:
        tx: The transaction.
        of: The run, as the decision saw it.
        decision: What was decided.
        actor: Who caused it.
        generation: The claim generation it is written under.
        command: The command's key.
        appended: Told where the events stand.

    Raises:
        PayloadTooLarge: Or another of `REFUSALS`, which `refused` turns into an answer; nothing was changed.
    """
    if not isinstance(decision, Decided):
        return decision
    with tx.whole():
        if any(isinstance(event, BAD_ENDS) for event in decision.events):
            drop_follow_ups(tx, of.run, actor=actor, command=command)
        placed = tx.append(
            f"run/{of.run.run_id}", of.revision, decision.events, actor=actor, generation=generation, command=command
        )
    if decision.erases:
        tx.erase(decision.erases)
    if appended is not None:
        appended(placed)
    return Applied(decision.value, placed.version)


def refused(error: Exception) -> Conflict:
    """Answer what the store, or a second guard, refused; with its facts and none of its text."""
    match error:
        case PayloadTooLarge():
            return Conflict("payload_too_large", {"what": error.what, "limit": error.limit, "size": error.size})
        case ValueRefused():
            return Conflict("output_invalid", {"path": error.path, "problem": error.problem})
        case DefinitionUnreadable():
            return Conflict("unsupported", {"definition": error.digest})
        case ImpossibleEvent():
            return Conflict("revision_changed", {"guard": error.projection, "event": error.event_type})
        case _:
            raise error


def no_run(run_id: str) -> Conflict:
    """Say that there is no such run."""
    return Conflict("not_found", {"what": "run", "id": run_id})
