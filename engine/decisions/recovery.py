"""What becomes of a run whose worker's end was observed without its own word (page 05, "Recovery and progress")."""

from typing import Final, Literal, TypeAlias, assert_never

from runwright.engine.commands.host import GiveUpWorker, RecordExit
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import ExitFacts
from runwright.engine.decisions.parking import parked
from runwright.engine.decisions.process import ended_with
from runwright.engine.decisions.terminal import end_badly
from runwright.engine.results import Adopted, Conflict
from runwright.eventstore.events.effect import EffectAmbiguous, EffectReleased
from runwright.eventstore.events.event import Event
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.request import RequestClosed
from runwright.eventstore.events.run import RunRequeued
from runwright.eventstore.events.worker import WorkerExited
from runwright.projections.control.effects import EffectRow

#: How often a launch that never started is put back before it fails.
MAX_REQUEUES: Final = 2

#: How often a run that stands at one progress value is launched before its orphan parks.
MAX_ORPHANS: Final = 2

Fate: TypeAlias = Literal[
    "fails",
    "queued",
    "effect_ambiguous",
    "paused",
    "worker_crashed",
    "orphaned",
    "worker_no_progress",
    "protocol_rejected",
]

#: What the worker's end is called in the run's code.
_CODES: Final = {
    "crashed": "worker_crashed",
    "orphaned": None,
    "timed_out": "worker_timed_out",
    "rejected": "protocol_rejected",
}


def decide_exit_observed(facts: ExitFacts, command: RecordExit, by: str) -> Decision[str]:
    """Decide what an observed end of a worker makes of its run; a repeat adds nothing."""
    of, worker = facts.of, facts.worker
    queue = of.queue
    if worker.run_id != command.run_id:
        return Conflict("not_found", {"what": "worker", "id": command.worker})
    gone = ended_with(facts.processes)
    if worker.state == "exited":
        return Decided(queue.state, tuple(gone)) if gone else Adopted(queue.state, of.revision)
    exited = _exited(command)
    if queue.owner is None or queue.generation != worker.generation:
        # The run ended or parked before its worker did: the worker's end is left to record, and what it was applying.
        return Decided(queue.state, (*gone, exited, *_late(facts, command, by)))
    fate = _fate(facts, command)
    match fate:
        case "fails":
            events, erases = end_badly(
                of,
                facts.unsettled,
                "failed",
                code="protocol_rejected" if command.outcome == "rejected" else "activation_failed",
                phase="launch",
                message=command.detail or "The worker ended before the run could start.",
            )
            return Decided("failed", (*gone, exited, *events), erases)
        case "queued":
            return Decided("queued", (*gone, exited, RunRequeued(reason=command.outcome)))
        case "effect_ambiguous" | "paused" | "worker_crashed" | "orphaned" | "worker_no_progress" | "protocol_rejected":
            seen = [*gone, exited, *_effect(facts, command), *_overrun(facts, command)]
            stop = parked(of, fate, by, code=_code(fate, command), detail=_detail(facts, fate, command), first=seen)
            return Decided("parked", tuple(stop))
        case never:
            assert_never(never)


def decide_give_up(facts: ExitFacts, command: GiveUpWorker, by: str) -> Decision[str]:
    """Decide what becomes of a run whose worker cannot be ended: nobody else gets it, and no effect is judged yet."""
    of, worker = facts.of, facts.worker
    queue = of.queue
    if worker.run_id != command.run_id:
        return Conflict("not_found", {"what": "worker", "id": command.worker})
    if of.ended or worker.state == "exited" or queue.generation != worker.generation:
        return Adopted(queue.state, of.revision)
    if queue.owner is None and not queue.eligible:
        return Adopted(queue.state, of.revision)
    message = "A worker of the run does not end, so nothing else may carry the run on."
    if not of.chain_started:
        events, erases = end_badly(
            of, facts.unsettled, "failed", code="worker_unkillable", phase="launch", message=message
        )
        return Decided("failed", events, erases)
    return Decided("parked", tuple(parked(of, "worker_unkillable", by, code="worker_unkillable", detail=message)))


def _exited(command: RecordExit) -> WorkerExited:
    if command.outcome == "rejected":
        return WorkerExited(worker=command.worker, outcome="failed", phase="execute", code=_CODES[command.outcome])
    return WorkerExited(worker=command.worker, outcome=command.outcome, code=_CODES[command.outcome])


def _late(facts: ExitFacts, command: RecordExit, by: str) -> list[Event]:
    """Judge what a worker was applying that could not be ended when its run was parked."""
    of, effect = facts.of, facts.unsettled.effect
    if of.ended or of.queue.generation != facts.worker.generation or effect is None or effect.state != "applying":
        return []
    judged = list(_effect(facts, command))
    if _unsure(effect, command):
        return parked(of, "effect_ambiguous", by, detail=_detail(facts, "effect_ambiguous", command), first=judged)
    return judged


def _fate(facts: ExitFacts, command: RecordExit) -> Fate:
    """The table of page 05; the first row that fits."""
    of, worker, effect = facts.of, facts.worker, facts.unsettled.effect
    run = of.run
    grew = run.progress > worker.progress or bool(_overrun(facts, command))
    if not of.started:
        if command.outcome in ("orphaned", "timed_out") and of.queue.requeues < MAX_REQUEUES:
            return "queued"
        # A continuation's chain has started: its launch does not fail, it waits for somebody.
        if not of.chain_started:
            return "fails"
        return "protocol_rejected" if command.outcome == "rejected" else "worker_no_progress"
    if effect is not None and (effect.state == "ambiguous" or _unsure(effect, command)):
        return "effect_ambiguous"
    if command.outcome == "rejected":
        # A pause is a flag beside it: this reason needs somebody either way.
        return "protocol_rejected"
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
    if _unsure(effect, command):
        return (EffectAmbiguous(effect=effect.effect, cause=command.outcome),)
    if effect.contract == "idempotent":
        return (EffectReleased(effect=effect.effect, cause="idempotent"),)
    # Observed: the next worker looks first, and settles the application by what it observes.
    return ()


def _unsure(effect: EffectRow, command: RecordExit) -> bool:
    """Whether only an operator can tell what became of it."""
    return effect.state == "applying" and (effect.contract == "manual" or command.end == "unseen")


def _overrun(facts: ExitFacts, command: RecordExit) -> list[Event]:
    """End the attempt whose time was up when the host ended its worker; the next worker routes from that."""
    visit = facts.unsettled.visit
    if command.outcome != "timed_out" or visit is None or facts.unsettled.effect is not None:
        return []
    if visit.deadline is None or visit.deadline > facts.of.now:
        return []
    end = NodeFinished(
        path=visit.path, visit=visit.visits, attempt=visit.attempt, outcome="timed_out", code="node_timed_out"
    )
    return [*(RequestClosed(request=each.request, cause="timed_out") for each in facts.unsettled.requests), end]


def _code(fate: Fate, command: RecordExit) -> str | None:
    return _CODES[command.outcome] if fate in ("worker_crashed", "worker_no_progress", "protocol_rejected") else None


def _detail(facts: ExitFacts, fate: Fate, command: RecordExit) -> str | None:
    run = facts.of.run
    where = "before its first node" if run.node is None else f"at {run.node}"
    match fate:
        case "worker_crashed":
            return f"The worker {_went(command)} {where} after it had got further."
        case "worker_no_progress":
            return f"The worker {_went(command)} {where} without getting any further."
        case "effect_ambiguous":
            return f"Nobody can tell whether the effect {where} happened."
        case "protocol_rejected":
            broke = command.detail or "it broke the rules of its channel"
            return f"The worker was stopped {where}: {broke}."
        case _:
            return None


def _went(command: RecordExit) -> str:
    return "vanished" if command.detail is None else f"ended ({command.detail})"
