"""What people, programs and models ask: a receipt first, then the decision, both in one transaction."""

from collections.abc import Callable
from functools import partial
from typing import Any, assert_never

from runwright.engine.commands.client import (
    AnswerRequest,
    Caller,
    CancelRun,
    ClientCommand,
    DecideRequest,
    PauseRun,
    QueueRun,
    ResolveEffect,
    RestartRun,
    ResumeRun,
    SubmitAnswer,
    UpdateRequest,
)
from runwright.engine.commands.session import QueueFollowUp
from runwright.engine.decisions.control import decide_cancel, decide_pause, decide_resume
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import RunFacts, SourceFacts, Tree
from runwright.engine.decisions.launch import decide_queue
from runwright.engine.decisions.message import decide_follow_up
from runwright.engine.decisions.resolve import decide_resolve
from runwright.engine.decisions.restarting import Before
from runwright.engine.decisions.session import Origin
from runwright.engine.graph.definition import Definition
from runwright.engine.results import Adopted, Applied, Conflict, Result
from runwright.engine.transitions import following, receipts, requests
from runwright.engine.transitions.carry import REFUSALS, carry_out, no_run, refused
from runwright.engine.transitions.conversation import Conversation
from runwright.engine.transitions.definitions import Definitions
from runwright.engine.transitions.facts import FactsLoader
from runwright.engine.transitions.presence import Presence
from runwright.engine.transitions.reporting import Reporting
from runwright.engine.transitions.trees import Trees, input_digest
from runwright.eventstore.envelope import NEW, Appended
from runwright.eventstore.events.definition import DefinitionRecorded, SourcesRecorded
from runwright.eventstore.events.event import Content
from runwright.eventstore.transaction import Tx
from runwright.eventstore.values import JsonObject
from runwright.projections.control.definitions import DEFINITIONS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS


class ClientUnit:
    """One client command as a unit of work; it may be run again from the start.

    Args:
        caller: Who asks.
        command: What.
        fingerprint: Of the payload, for the receipt.
        key: The key of the run tree that a `QueueRun` begins, in hex.
        input_text: The canonical text of its input.
        definitions: The definitions known.
        trees: The secrets known.
        presence: What coordinators told.
        reporting: How much progress was reported to requests.
        submission: The ID of an answer's submission.
        before: How a run stood before it last came to the node that a `RestartRun` begins at.
    """

    def __init__(
        self,
        caller: Caller,
        command: ClientCommand,
        fingerprint: str,
        *,
        key: str,
        input_text: str,
        definitions: Definitions,
        trees: Trees,
        presence: Presence,
        reporting: Reporting,
        submission: str = "",
        before: Before | None = None,
    ) -> None:
        self._submission = submission
        self._before = before
        self._caller = caller
        self._command = command
        self._fingerprint = fingerprint
        self._key = key
        self._input_text = input_text
        self._definitions = definitions
        self._trees = trees
        self._presence = presence
        self._reporting = reporting

    def __call__(self, tx: Tx) -> Result[Any]:
        """Adopt an equal command's receipt, else decide and leave one where it was accepted."""
        loader = FactsLoader(tx, self._definitions, self._trees)
        fenced = requests.check_speaker(loader, self._command)
        if fenced is not None:
            return fenced
        operation = receipts.operation_of(self._command)
        receipt = receipts.find(loader.rows, self._caller)
        if receipt is not None:
            if (receipt.operation, receipt.fingerprint) != (operation, self._fingerprint):
                return receipts.reused(receipt)
            return Adopted(receipt.run_id, tx.version(f"run/{receipt.run_id}"))
        placed: list[Appended] = []
        try:
            result = self._decide(loader, placed.append)
        except REFUSALS as error:
            return refused(error)
        if isinstance(result, Applied):
            first = placed[0].first if placed else None
            receipts.settle(tx, self._caller, operation, self._fingerprint, result.value, first)
        return result

    def _decide(self, loader: FactsLoader, appended: Callable[[Appended], object]) -> Result[str]:
        command, by = self._command, self._caller.actor
        match command:
            case QueueRun():
                return self._queue(loader, command, appended)
            case RestartRun():
                origin = partial(self._origin, loader)
                return following.restart(loader, command, self._caller, self._before, origin, appended)
            case AnswerRequest():
                return following.answer(loader, command, self._caller, self._submission, appended)
            case DecideRequest() | SubmitAnswer() | UpdateRequest():
                return requests.say(loader, command, self._caller, self._submission, self._reporting, appended)
            case ResolveEffect():
                facts = loader.resolve(command.effect)
                if facts is None:
                    return Conflict("not_found", {"what": "effect", "id": command.effect})
                return self._carry_out(loader, facts.of, decide_resolve(facts, command, by), None, appended)
            case QueueFollowUp():
                of = loader.run(command.run_id)
                if of is None:
                    return no_run(command.run_id)
                follow_up = decide_follow_up(of, command, loader.next_order(command.session))
                return self._carry_out(loader, of, follow_up, None, appended)
            case PauseRun() | ResumeRun() | CancelRun():
                of = loader.run(command.run_id)
                if of is None:
                    return no_run(command.run_id)
                decision = self._steer(loader, of, command, by)
                result = self._carry_out(loader, of, decision, command.expected, appended)
                if isinstance(command, ResumeRun) and isinstance(result, Applied):
                    self._record_accepted(loader, of, command)
                if isinstance(command, CancelRun):
                    self._trees.forget(of.run.root)
                return result
            case never:
                assert_never(never)

    def _steer(
        self, loader: FactsLoader, of: RunFacts, command: PauseRun | ResumeRun | CancelRun, by: str
    ) -> Decision[str]:
        match command:
            case PauseRun():
                return decide_pause(of, loader.unsettled(of, ending=False), command, by)
            case ResumeRun():
                return self._resume(loader, of, command, by)
            case CancelRun():
                return decide_cancel(of, loader.unsettled(of, ending=not of.ended), command, by)
            case never:
                assert_never(never)

    def _resume(self, loader: FactsLoader, of: RunFacts, command: ResumeRun, by: str) -> Decision[str]:
        accepted = None
        if not of.ended:
            # What this version cannot read it cannot carry on either: that is said before anything is written.
            saved = loader.definition(of)
            if command.accept is not None:
                accepted = SourceFacts(saved, Definition.from_snapshot(command.accept.snapshot))
        return decide_resume(of, loader.unsettled(of, ending=False), command, by, accepted, loader.asked(of))

    def _queue(self, loader: FactsLoader, command: QueueRun, appended: Callable[[Appended], object]) -> Result[str]:
        tx, rows = loader.tx, loader.rows
        decision = decide_queue(
            command,
            now=tx.now,
            key=self._key,
            size=len(self._input_text.encode()),
            twin=rows.get(RUNS, command.run_id),
            origin=self._origin(loader, command.session),
        )
        if not isinstance(decision, Decided):
            return decision
        caller = self._caller
        placed = tx.append(f"run/{command.run_id}", NEW, decision.events, actor=caller.actor, command=caller.key)
        appended(placed)
        self._record(loader, command.definition, command.snapshot, command.sources, command.paths, command.workflow)
        self._trees.keep(command.run_id, Tree(self._key, input_digest(self._input_text)))
        return Applied(decision.value, placed.version)

    def _origin(self, loader: FactsLoader, session: str | None) -> Origin:
        """How the session of a new run stands: who holds it, what it is answering, and for whom.

        A model that starts a run without a session does so in a turn of its own session all the same.
        """
        if session is None:
            own = "" if self._caller.person else self._caller.client.partition(":")[2]
            cause = Conversation(loader, self._presence, own).cause() if own else None
            return Origin(answering=cause, person=self._caller.person)
        holder = loader.rows.find(RESERVATIONS, session=session)
        at = Conversation(loader, self._presence, session)
        return Origin(
            holder=holder[0] if holder else None,
            presenting=at.presenting(),
            answering=at.cause(),
            person=self._caller.person,
        )

    def _record_accepted(self, loader: FactsLoader, of: RunFacts, command: ResumeRun) -> None:
        accept, definition = command.accept, command.definition
        if accept is not None and definition is not None:
            self._record(loader, definition, accept.snapshot, command.sources, accept.paths, of.run.workflow)

    def _record(
        self,
        loader: FactsLoader,
        definition: str,
        snapshot: JsonObject,
        sources: str | None,
        paths: JsonObject | None,
        workflow: str,
    ) -> None:
        """Record a definition and a source set that the log does not hold yet."""
        tx, caller = loader.tx, self._caller
        if loader.rows.get(DEFINITIONS, definition) is None:
            recorded = DefinitionRecorded(workflow=workflow, snapshot=Content.json(snapshot))
            tx.append(f"definition/{definition}", NEW, (recorded,), actor=caller.actor, command=caller.key)
        if sources is not None and tx.version(f"sources/{sources}") == 0:
            listed = SourcesRecorded(files=len(paths or {}), paths=Content.json(paths or {}))
            tx.append(f"sources/{sources}", NEW, (listed,), actor=caller.actor, command=caller.key)

    def _carry_out(
        self,
        loader: FactsLoader,
        of: RunFacts,
        decision: Decision[str],
        expected: int | None,
        appended: Callable[[Appended], object],
    ) -> Result[str]:
        """Carry a decision out at the revision that the caller expects; adoption needs none."""
        if isinstance(decision, Decided) and expected not in (None, of.revision):
            return Conflict("revision_changed", {"run": of.run.run_id, "expected": expected, "actual": of.revision})
        caller = self._caller
        return carry_out(loader.tx, of, decision, actor=caller.actor, command=caller.key, appended=appended)
