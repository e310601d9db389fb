"""What becomes of a run whose worker's end was observed without its own word (page 05, "Recovery and progress")."""

from typing import Final, Literal, TypeAlias, assert_never

from runwright.engine.commands.host import RecordExit
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import ExitFacts
from runwright.engine.decisions.parking import parked
from runwright.engine.decisions.terminal import end_badly
from runwright.engine.results import Adopted, Conflict
from runwright.eventstore.events.effect import EffectAmbiguous, EffectReleased
from runwright.eventstore.events.event import Event
from runwright.eventstore.events.run import RunRequeued
from runwright.eventstore.events.worker import WorkerExited

#: How often a launch that never started is put back before it fails.
MAX_REQUEUES: Final = 2

#: How often a run that stands at one progress value is launched before its orphan parks.
MAX_ORPHANS: Final = 2

Fate: TypeAlias = Literal[
    "fails", "queued", "effect_ambiguous", "paused", "worker_crashed", "orphaned", "worker_no_progress"
]

#: What the worker's end is called in the run's code.
_CODES: Final = {"crashed": "worker_crashed", "orphaned": None, "timed_out": "worker_timed_out"}


def decide_exit_observed(facts: ExitFacts, command: RecordExit, by: str) -> Decision[str]:
    """Decide what an observed end of a worker makes of its run; a repeat adds nothing."""
    of, worker = facts.of, facts.worker
    queue = of.queue
    if worker.run_id != command.run_id:
        return Conflict("not_found", {"what": "worker", "id": command.worker})
    if worker.state == "exited":
        return Adopted(queue.state, of.revision)
    exited = WorkerExited(worker=worker.worker, outcome=command.outcome, code=_CODES[command.outcome])
    if queue.owner is None or queue.generation != worker.generation:
        # The run ended or parked before its worker did: only the worker's end is left to record.
        return Decided(queue.state, (exited,))
    fate = _fate(facts, command)
    match fate:
        case "fails":
            events, erases = end_badly(
                of,
                facts.unsettled,
                "failed",
                code="activation_failed",
                phase="launch",
                message="The worker ended before the run could start.",
            )
            return Decided("failed", (exited, *events), erases)
        case "queued":
            return Decided("queued", (exited, RunRequeued(reason=command.outcome)))
        case "effect_ambiguous" | "paused" | "worker_crashed" | "orphaned" | "worker_no_progress":
            seen = [exited, *_effect(facts, command)]
            stop = parked(of, fate, by, code=_code(fate, command), detail=_detail(facts, fate), first=seen)
            return Decided("parked", tuple(stop))
        case never:
            assert_never(never)


def _fate(facts: ExitFacts, command: RecordExit) -> Fate:
    """The table of page 05; the first row that fits."""
    of, worker, effect = facts.of, facts.worker, facts.unsettled.effect
    run = of.run
    grew = run.progress > worker.progress
    if not of.started:
        if command.outcome != "crashed" and of.queue.requeues < MAX_REQUEUES:
            return "queued"
        # A continuation's chain has started: its launch does not fail, it waits for somebody.
        return "worker_no_progress" if of.chain_started else "fails"
    if effect is not None and (
        effect.state == "ambiguous" or (effect.state == "applying" and effect.contract == "manual")
    ):
        return "effect_ambiguous"
    if run.pause_requested or run.paused:
        return "paused"
    match command.outcome:
        case "crashed" | "timed_out":
            # One that never said ready made nothing of this launch, whatever its predecessors did.
            return "worker_crashed" if grew and worker.state == "ready" else "worker_no_progress"
        case "orphaned":
            return "orphaned" if grew or run.launches < MAX_ORPHANS else "worker_no_progress"
        case never:
            assert_never(never)


def _effect(facts: ExitFacts, command: RecordExit) -> tuple[Event, ...]:
    """What its contract makes of an effect that was in application (page 06, "Contracts")."""
    effect = facts.unsettled.effect
    if effect is None or effect.state != "applying":
        return ()
    match effect.contract:
        case "idempotent":
            return (EffectReleased(effect=effect.effect, cause="idempotent"),)
        case "observed":
            # The next worker looks first: it settles the application by what it observes.
            return ()
        case _:
            return (EffectAmbiguous(effect=effect.effect, cause=command.outcome),)


def _code(fate: Fate, command: RecordExit) -> str | None:
    return _CODES[command.outcome] if fate in ("worker_crashed", "worker_no_progress") else None


def _detail(facts: ExitFacts, fate: Fate) -> str | None:
    run = facts.of.run
    where = "before its first node" if run.node is None else f"at {run.node}"
    match fate:
        case "worker_crashed":
            return f"The worker vanished {where} after it had got further."
        case "worker_no_progress":
            return f"The worker vanished {where} without getting any further."
        case "effect_ambiguous":
            return f"Nobody can tell whether the effect {where} happened."
        case _:
            return None
