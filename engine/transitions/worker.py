"""What workers ask: an ordered list in one transaction, each decided on what its predecessors leave."""

import hashlib
from collections.abc import Sequence
from typing import Any, Final, assert_never

from runwright.engine.commands.worker import (
    AskPerson,
    AskSession,
    Authority,
    BeginEffect,
    CloseRequest,
    CompleteRun,
    EnterMount,
    ExitMount,
    ExitWorker,
    FailRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    QueueNotification,
    Ready,
    RegisterProcess,
    ReserveEffect,
    SettleEffect,
    StartNode,
    SubmitCandidate,
    UnregisterProcess,
    UpdateNode,
    WorkerTransition,
)
from runwright.engine.decisions.claim import check_claim, decide_exit, decide_ready
from runwright.engine.decisions.decided import Decision
from runwright.engine.decisions.effect import decide_begin, decide_evidence, decide_reserve, decide_settle
from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.mount import decide_enter, decide_leave
from runwright.engine.decisions.node import decide_finish, decide_start, decide_update
from runwright.engine.decisions.notifying import decide_notify
from runwright.engine.decisions.parking import decide_park
from runwright.engine.decisions.person import decide_ask_person
from runwright.engine.decisions.process import decide_register, decide_unregister
from runwright.engine.decisions.request import decide_ask, decide_close, decide_open, decide_submit
from runwright.engine.decisions.terminal import decide_complete, decide_fail
from runwright.engine.results import Adopted, Applied, Conflict, Result
from runwright.engine.transitions.carry import REFUSALS, carry_out, no_run, refused
from runwright.engine.transitions.definitions import Definitions
from runwright.engine.transitions.facts import FactsLoader
from runwright.engine.transitions.leases import Leases
from runwright.engine.transitions.trees import Trees
from runwright.eventstore.transaction import Tx

#: Transitions that need a new identity, drawn before the transaction so that it has no side effect.
NEEDS_ID: Final = (OpenRequest, AskSession, AskPerson, SubmitCandidate)

#: Transitions that end the run.
ENDING: Final = (CompleteRun, FailRun)

#: Answers after which a list goes on.
_GOES_ON: Final = (Applied, Adopted)


def token_hash(token: str) -> str:
    """Hash a claim's token as it is stored: SHA-256 of its text, in hex."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class WorkerUnit:
    """One worker message as a unit of work; it may be run again from the start."""

    __slots__ = ("_actor", "_authority", "_definitions", "_fresh", "_hash", "_leases", "_transitions", "_trees")

    def __init__(
        self,
        authority: Authority,
        transitions: Sequence[WorkerTransition],
        fresh: Sequence[str],
        *,
        leases: Leases,
        definitions: Definitions,
        trees: Trees,
    ) -> None:
        self._authority = authority
        self._transitions = transitions
        self._fresh = fresh
        self._hash = token_hash(authority.token)
        self._actor = f"worker:{authority.worker}"
        self._leases = leases
        self._definitions = definitions
        self._trees = trees

    def __call__(self, tx: Tx) -> list[Result[object]]:
        """Decide in order; the first that is neither applied nor adopted ends the list."""
        authority = self._authority
        leased = self._leases.holds(authority.run_id, authority.generation)
        loader = FactsLoader(tx, self._definitions, self._trees)
        fresh = iter(self._fresh)
        results: list[Result[object]] = []
        for each in self._transitions:
            result = self._one(loader, each, leased, next(fresh) if isinstance(each, NEEDS_ID) else "")
            results.append(result)
            if not isinstance(result, _GOES_ON):
                break
        return results

    def renew(self, tx: Tx) -> Result[None]:
        """Renew the lease and nothing else; a claim that does not hold any more renews nothing."""
        authority = self._authority
        of = FactsLoader(tx, self._definitions, self._trees).run(authority.run_id)
        if of is None:
            return no_run(authority.run_id)
        leased = self._leases.holds(authority.run_id, authority.generation)
        lost = check_claim(of.queue, authority, self._hash, leased=leased)
        if lost is not None:
            return lost
        self._leases.renew(authority.run_id, authority.generation)
        return Adopted(None, of.revision)

    def _one(self, loader: FactsLoader, transition: WorkerTransition, leased: bool, fresh: str) -> Result[object]:
        authority = self._authority
        of = loader.run(authority.run_id)
        if of is None:
            return no_run(authority.run_id)
        lost = check_claim(of.queue, authority, self._hash, leased=leased)
        try:
            decision: Decision[Any]
            if lost is None:
                self._leases.renew(authority.run_id, authority.generation)
                decision = self._decide(loader, of, transition, fresh)
            else:
                decision = self._without_claim(loader, of, transition, lost)
            result: Result[object] = carry_out(
                loader.tx, of, decision, actor=self._actor, generation=authority.generation
            )
        except REFUSALS as error:
            return refused(error)
        if isinstance(transition, ENDING):
            self._trees.forget(of.run.root)
        return result

    def _without_claim(
        self, loader: FactsLoader, of: RunFacts, transition: WorkerTransition, lost: Conflict
    ) -> Decision[Any]:
        """Three words count without a claim: a worker's own end, and evidence about its application and processes."""
        match transition:
            case ExitWorker():
                return decide_exit(of, loader.worker(self._authority.worker), self._authority, transition)
            case SettleEffect():
                facts = loader.effect(of, transition.path, transition.visit)
                worker = loader.worker(self._authority.worker)
                return decide_evidence(facts, worker, self._authority, transition) or lost
            case UnregisterProcess():
                return decide_unregister(of, loader.process(transition.process), self._authority, transition)
            case _:
                return lost

    def _decide(self, loader: FactsLoader, of: RunFacts, transition: WorkerTransition, fresh: str) -> Decision[Any]:
        match transition:
            case FinishNode():
                return decide_finish(loader.finish(of, transition.path), transition)
            case StartNode():
                return decide_start(loader.start(of, transition.path), transition)
            case EnterMount():
                return decide_enter(loader.mount(of, transition.path, transition.invocation), transition)
            case ExitMount():
                mount = loader.mount(of, transition.path, transition.invocation, transition.exit)
                return decide_leave(mount, transition)
            case ReserveEffect():
                return decide_reserve(loader.effect(of, transition.path, transition.visit, tree=True), transition)
            case BeginEffect():
                facts = loader.effect(of, transition.path, transition.visit)
                return decide_begin(facts, transition, self._authority.generation)
            case SettleEffect():
                return decide_settle(loader.effect(of, transition.path, transition.visit), transition)
            case UpdateNode():
                return decide_update(loader.finish(of, transition.path), transition)
            case OpenRequest():
                return decide_open(loader.request(of, opened=True), transition, fresh, loader.order_of(of))
            case AskSession():
                order = loader.order_of(of)
                return decide_ask(loader.request(of, opened=True), transition, fresh, order, self._actor)
            case AskPerson():
                asked, order, tree = loader.request(of), loader.order_of(of), loader.tree(of)
                return decide_ask_person(asked, transition, fresh, order, tree, self._actor)
            case QueueNotification():
                order, known = loader.order_of(of), loader.notified(of)
                return decide_notify(loader.finish(of, transition.path), transition, order, known)
            case SubmitCandidate():
                return decide_submit(loader.request(of, asked=transition.request), transition, fresh, self._actor)
            case CloseRequest():
                return decide_close(loader.request(of, asked=transition.request), transition)
            case CompleteRun():
                return decide_complete(of, loader.unsettled(of, ending=True))
            case FailRun():
                return decide_fail(of, loader.unsettled(of, ending=True), transition)
            case ParkRun():
                return decide_park(of, transition, self._actor)
            case Ready():
                return decide_ready(of, loader.worker(self._authority.worker), self._authority)
            case RegisterProcess():
                worker, process = loader.worker(self._authority.worker), loader.process(transition.process)
                return decide_register(of, worker, process, self._authority, transition)
            case UnregisterProcess():
                return decide_unregister(of, loader.process(transition.process), self._authority, transition)
            case ExitWorker():
                return decide_exit(of, loader.worker(self._authority.worker), self._authority, transition)
            case never:
                assert_never(never)
