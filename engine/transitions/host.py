"""What the process that holds the store asks on its own account: claims, ends it observed, timers."""

from typing import Any, assert_never

from runwright.engine.commands.host import (
    ClaimRun,
    FailPresentation,
    FireTimer,
    GiveUpWorker,
    HostCommand,
    JudgeSubmission,
    ParkIdleRun,
    PresentRun,
    RecordExit,
    TimeOutRun,
)
from runwright.engine.decisions.claim import decide_claim
from runwright.engine.decisions.decided import Decision
from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.parking import decide_park_idle
from runwright.engine.decisions.presentation import decide_present, decide_present_failed
from runwright.engine.decisions.recovery import decide_exit_observed, decide_give_up
from runwright.engine.decisions.terminal import decide_time_out
from runwright.engine.decisions.timer import decide_fire
from runwright.engine.results import Adopted, Applied, Conflict, Result
from runwright.engine.transitions.carry import REFUSALS, carry_out, no_run, refused
from runwright.engine.transitions.definitions import Definitions
from runwright.engine.transitions.facts import FactsLoader
from runwright.engine.transitions.leases import Leases
from runwright.engine.transitions.presentation import presentation_facts
from runwright.engine.transitions.requests import policy_of, verdict
from runwright.engine.transitions.trees import Trees
from runwright.eventstore.transaction import Tx


class HostUnit:
    """One host command as a unit of work; it may be run again from the start."""

    def __init__(
        self, command: HostCommand, *, actor: str, leases: Leases, definitions: Definitions, trees: Trees
    ) -> None:
        self._command = command
        self._actor = actor
        self._leases = leases
        self._definitions = definitions
        self._trees = trees

    def __call__(self, tx: Tx) -> Result[object]:
        """Decide it and carry it out."""
        command = self._command
        loader = FactsLoader(tx, self._definitions, self._trees)
        of = loader.run(command.run_id)
        if of is None:
            return no_run(command.run_id)
        try:
            result: Result[object] = carry_out(tx, of, self._decide(loader, of), actor=self._actor)
        except REFUSALS as error:
            return refused(error)
        if isinstance(command, TimeOutRun | RecordExit | GiveUpWorker | FireTimer):
            # It may have ended the run, which has no more use for its tree's key.
            self._trees.forget(of.run.root)
        if isinstance(command, ClaimRun) and isinstance(result, Applied | Adopted):
            self._leases.grant(command.run_id, int(str(result.value)))
        return result

    def _decide(self, loader: FactsLoader, of: RunFacts) -> Decision[Any]:
        match command := self._command:
            case ClaimRun():
                return decide_claim(of, command)
            case RecordExit():
                return self._observed(loader, of, command)
            case GiveUpWorker():
                return self._given_up(loader, of, command)
            case FireTimer():
                ending = command.kind == "run"
                policy = policy_of(loader, of) if command.kind == "deadline" else None
                return decide_fire(of, loader.unsettled(of, ending=ending), command, policy)
            case TimeOutRun():
                return decide_time_out(of, loader.unsettled(of, ending=True))
            case ParkIdleRun():
                return decide_park_idle(of, loader.unsettled(of, ending=False), command, self._actor)
            case PresentRun():
                return decide_present(presentation_facts(loader, of), command.instructions)
            case JudgeSubmission():
                return verdict(loader, of, command, self._actor)
            case FailPresentation():
                return decide_present_failed(presentation_facts(loader, of), command.code, command.reason)
            case never:
                assert_never(never)

    def _observed(self, loader: FactsLoader, of: RunFacts, command: RecordExit) -> Decision[str]:
        worker = loader.worker(command.worker)
        if worker is None:
            return Conflict("not_found", {"what": "worker", "id": command.worker})
        # Only a launch that never started can end by this.
        unsettled = loader.unsettled(of, ending=not of.started)
        return decide_exit_observed(loader.exit(of, worker, unsettled), command, self._actor)

    def _given_up(self, loader: FactsLoader, of: RunFacts, command: GiveUpWorker) -> Decision[str]:
        worker = loader.worker(command.worker)
        if worker is None:
            return Conflict("not_found", {"what": "worker", "id": command.worker})
        unsettled = loader.unsettled(of, ending=not of.started)
        return decide_give_up(loader.exit(of, worker, unsettled), command, self._actor)
