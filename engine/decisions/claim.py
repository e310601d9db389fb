"""Claims and launches: who may change a run, for how long, and what a worker says of itself (law 3)."""

from typing import Final

from runwright.engine.commands.host import ClaimRun
from runwright.engine.commands.worker import Authority, ExitWorker
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.node import known_code
from runwright.engine.results import Adopted, Conflict
from runwright.eventstore.events.run import RunClaimed, RunStarted
from runwright.eventstore.events.worker import WorkerExited, WorkerLaunched, WorkerReady
from runwright.projections.control.queue import QueueRow
from runwright.projections.control.workers import WorkerRow

#: The five reasons of a refused claim, in the order in which they are checked.
REASONS: Final = ("missing", "owner_changed", "token_changed", "generation_changed", "expired")


def check_claim(queue: QueueRow, authority: Authority, token_hash: str, *, leased: bool) -> Conflict | None:
    """Check a worker's authority: owner, token, generation and lease.

    Args:
        queue: The run's row as it stands.
        authority: What the worker shows.
        token_hash: The SHA-256 of its token.
        leased: Whether the lease of that generation has not expired.

    Returns:
        ``None`` when it holds, else the refusal with one of the five `REASONS`.
    """
    if queue.owner is None:
        reason = "missing"
    elif queue.owner != authority.owner:
        reason = "owner_changed"
    elif queue.token_hash != token_hash:
        reason = "token_changed"
    elif queue.generation != authority.generation:
        reason = "generation_changed"
    elif not leased:
        reason = "expired"
    else:
        return None
    return claim_lost(queue, reason)


def claim_lost(queue: QueueRow, reason: str) -> Conflict:
    """Say that a claim does not hold, or cannot be had; a handover, never a failure of the run."""
    return Conflict(
        "claim_lost", {"run": queue.run_id, "reason": reason, "generation": queue.generation, "queue": queue.state}
    )


def decide_claim(facts: RunFacts, command: ClaimRun) -> Decision[int]:
    """Decide whether an eligible run goes to a new owner, in the next generation, and record the launch."""
    run, queue = facts.run, facts.queue
    if facts.ended:
        return Conflict("already_terminal", {"run": run.run_id, "outcome": run.status})
    if queue.owner is not None:
        if (queue.owner, queue.token_hash) == (command.owner, command.token_hash):
            return Adopted(queue.generation, facts.revision)
        return claim_lost(queue, "owner_changed")
    if run.paused:
        return Conflict("paused", {"run": run.run_id})
    if queue.state not in ("queued", "parked") or not queue.eligible:
        return claim_lost(queue, "missing")
    generation = queue.generation + 1
    claimed = RunClaimed(generation=generation, owner=command.owner, token_hash=command.token_hash)
    launched = WorkerLaunched(
        worker=command.owner.partition(":")[2],
        generation=generation,
        progress=run.progress,
        process=command.process,
    )
    return Decided(generation, (claimed, launched))


def decide_ready(facts: RunFacts, worker: WorkerRow | None, authority: Authority) -> Decision[None]:
    """Decide a worker's ``ready``: the run, or its next launch, starts."""
    if worker is None or worker.generation != authority.generation:
        return broken("unknown_worker")
    if worker.state == "ready":
        return Adopted(None, facts.revision)
    if worker.state != "launched" or facts.queue.state != "starting":
        return broken("not_starting", worker=worker.state, queue=facts.queue.state)
    return Decided(None, (WorkerReady(worker=worker.worker), RunStarted(worker=worker.worker)))


def decide_exit(facts: RunFacts, worker: WorkerRow | None, authority: Authority, command: ExitWorker) -> Decision[None]:
    """Decide a worker's own word about its end.

    It needs no claim, which the run's end or a park has taken from it: it has to be the worker of exactly that
    generation. While it still holds the claim it first says what becomes of the run.
    """
    if worker is None or (worker.run_id, worker.generation) != (authority.run_id, authority.generation):
        return broken("unknown_worker")
    if not known_code(command.code):
        return broken("code_unfit", outcome=command.outcome)
    if worker.state == "exited":
        if worker.outcome == command.outcome:
            return Adopted(None, facts.revision)
        return Conflict("revision_changed", {"worker": worker.worker, "outcome": worker.outcome})
    if facts.queue.owner == authority.owner:
        return broken("claim_held", generation=facts.queue.generation)
    exited = WorkerExited(worker=worker.worker, outcome=command.outcome, phase=command.phase, code=command.code)
    return Decided(None, (exited,))
