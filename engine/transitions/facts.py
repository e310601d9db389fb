"""Loading the facts of a decision: few rows by key, and values only where one is compared or handed out."""

from typing import cast

from runwright.engine.decisions.facts import (
    TAKEN_BACK,
    EffectFacts,
    ExitFacts,
    MountFacts,
    NodeFacts,
    RequestFacts,
    ResolveFacts,
    RunFacts,
    Step,
    Tree,
    Unsettled,
)
from runwright.engine.decisions.notifying import notification_id
from runwright.engine.graph.definition import Definition, NodeSpec
from runwright.engine.identity import effect_id
from runwright.engine.transitions.definitions import Definitions, DefinitionUnreadable
from runwright.engine.transitions.trees import Trees
from runwright.eventstore.events.effect import EffectApplied
from runwright.eventstore.events.event import ProcessIdentity
from runwright.eventstore.events.node import MountEntered, MountExited, NodeFinished
from runwright.eventstore.events.request import RequestOpened
from runwright.eventstore.transaction import Tx
from runwright.eventstore.values import encode
from runwright.projections.control.effects import EFFECTS, EffectRow
from runwright.projections.control.messages import MESSAGES, MessageRow
from runwright.projections.control.mounts import MOUNTS, MountRow
from runwright.projections.control.processes import PROCESSES, ProcessRow
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS, UNSETTLED, RequestRow
from runwright.projections.control.runs import RUNS
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.timers import TIMERS, TimerRow
from runwright.projections.control.turns import TURNS, TurnRow
from runwright.projections.control.visits import VISITS, VisitRow
from runwright.projections.control.workers import WORKERS, WorkerRow
from runwright.projections.rows import Rows

_FINAL = ("applied", "rejected", "cancelled")


class FactsLoader:
    """Reads facts in one transaction; a decision's predecessors stand in what it reads."""

    __slots__ = ("_definitions", "_trees", "rows", "tx")

    def __init__(self, tx: Tx, definitions: Definitions, trees: Trees) -> None:
        self.tx = tx
        self.rows = cast(Rows, tx.control)
        self._definitions = definitions
        self._trees = trees

    def run(self, run_id: str) -> RunFacts | None:
        """A run, or ``None`` where there is none of that ID."""
        run = self.rows.get(RUNS, run_id)
        queue = self.rows.get(QUEUE, run_id)
        if run is None or queue is None:
            return None
        return RunFacts(run, queue, self.tx.version(f"run/{run_id}"), self.tx.now)

    def worker(self, worker: str) -> WorkerRow | None:
        """A worker."""
        return self.rows.get(WORKERS, worker)

    def process(self, process: ProcessIdentity) -> ProcessRow | None:
        """A registered process that may live."""
        return self.rows.get(PROCESSES, process.boot, process.namespace, process.pid, process.start)

    def exit(self, of: RunFacts, worker: WorkerRow, unsettled: Unsettled) -> ExitFacts:
        """What the observed end of a worker is decided on."""
        return ExitFacts(of, worker, unsettled, tuple(self.rows.find(PROCESSES, worker=worker.worker)))

    def definition(self, of: RunFacts) -> Definition:
        """The graph that a run stands on."""
        return self.saved(of.run.definition)

    def saved(self, digest: str) -> Definition:
        """The graph of that digest."""
        return self._definitions.get(self.tx.event, self.rows, digest)

    def readable(self, of: RunFacts) -> Definition | None:
        """The graph that a run stands on; ``None`` where another version recorded it in a form of its own.

        What a run holds follows from rows as well: a graph that nobody here can read keeps no run from its end (law 5).
        """
        try:
            return self.definition(of)
        except DefinitionUnreadable:
            return None

    def tree(self, of: RunFacts) -> Tree | None:
        """The secret of a run's tree."""
        return self._trees.get(self.tx, self.rows, of.run.root)

    def start(self, of: RunFacts, path: str) -> NodeFacts:
        """What the start of a node is decided on."""
        definition = self.definition(of)
        current = self.current(of)
        target = current if path == of.run.node else self._visit(of, path)
        effect = None
        if current is not None and current.outcome != "completed":
            effect = self._last_effect(of, definition)
        return NodeFacts(of, definition, current, target, effect, inside=self._inside(of, definition))

    def mount(self, of: RunFacts, path: str, invocation: int, exit: str | None = None) -> MountFacts:
        """What an entry into a mount, or an exit, is decided on."""
        definition = self.definition(of)
        spec = definition.mounts.get(path)
        at = None if spec is None or exit is None else spec.exits.get(exit)
        leaver = None if at is None else self._visit(of, at)
        target = self.rows.get(MOUNTS, of.run.run_id, path)
        recorded = self.tx.event(target.changed) if target is not None and target.invocation == invocation else None
        last = None if recorded is None else recorded.event
        accepted = None if leaver is None else self._finished(leaver)
        return MountFacts(
            of,
            definition,
            self.current(of),
            target,
            self._inside(of, definition),
            last if isinstance(last, MountEntered | MountExited) else None,
            leaver,
            None if accepted is None else accepted.output,
        )

    def finish(self, of: RunFacts, path: str) -> NodeFacts:
        """What the end of an attempt is decided on."""
        definition = self.definition(of)
        target = self._visit(of, path)
        effect = request = finished = asked = None
        if target is not None and not target.open:
            finished = self._finished(target)
        elif target is not None and (spec := definition.nodes.get(path)) is not None:
            if spec.contract is not None:
                effect = self._effect(of, spec, target.visits)
            elif spec.asks:
                request = self._newest_request(of, target)
                asked = self.step(of, request)
        return NodeFacts(of, definition, target, target, effect, request, finished, asked=asked)

    def current(self, of: RunFacts) -> VisitRow | None:
        """The row of the node that started last; in a continuation before its first, of the answered checkpoint."""
        run = of.run
        if run.node is not None:
            return self._visit(of, run.node)
        answered = None if run.kind != "continue" else self.rows.get(REQUESTS, run.request or "")
        return None if answered is None else self._visit(of, answered.path)

    def effect(self, of: RunFacts, path: str, visit: int, *, tree: bool = False) -> EffectFacts:
        """What a word about an effect is decided on."""
        definition = self.definition(of)
        spec = definition.nodes.get(path)
        effect = None if spec is None or spec.contract is None else self._effect(of, spec, visit)
        return EffectFacts(
            of,
            definition,
            self.current(of),
            effect,
            self._result(effect),
            self.tree(of) if tree else None,
        )

    def request(self, of: RunFacts, *, asked: str | None = None, opened: bool = False) -> RequestFacts:
        """What a word about a request is decided on: the one of that ID, else the open attempt's newest."""
        current = self.current(of)
        row: RequestRow | None
        if asked is not None:
            row = self.rows.get(REQUESTS, asked)
            if row is not None and row.run_id != of.run.run_id:
                row = None
        else:
            row = None if current is None else self._newest_request(of, current)
        event = self.tx.event(row.opened) if row is not None and opened else None
        question = None if event is None else event.event
        opening = question if isinstance(question, RequestOpened) else None
        return RequestFacts(of, self.definition(of), current, row, opening, asked=self.step(of, row))

    def unsettled(self, of: RunFacts, *, ending: bool) -> Unsettled:
        """What a run holds.

        Args:
            of: The run.
            ending: Whether it may end now: then also what its terminal facts are made of.
        """
        run = of.run
        definition = self.readable(of)
        current = self.current(of)
        effect = self._last_effect(of, definition)
        if effect is not None and effect.state in _FINAL:
            effect = None
        is_open = current is not None and current.open
        output = current.output if current is not None and not is_open and current.outcome == "completed" else None
        text = self._body(output) if ending and output is not None else ""
        return Unsettled(
            visit=current if is_open else None,
            effect=effect,
            requests=self._open_requests(of) if is_open else (),
            timers=self._timers(of),
            turns=self._turns(of),
            messages=self.unsent(of),
            mounts=self._inside(of, definition)[::-1],
            input=run.input if run.kind == "start" and not run.input_erased else None,
            output=output,
            output_text=text,
            tree=self.tree(of) if ending else None,
        )

    def step(self, of: RunFacts, request: RequestRow | None) -> Step | None:
        """What the next message is made of that asks a session for a request; ``None`` where none does."""
        session = None if request is None else request.session
        if request is None or session is None:
            return None
        recorded = self.tx.event(request.opened)
        opened = None if recorded is None else recorded.event
        prompt = opened.prompt if isinstance(opened, RequestOpened) else None
        contract = opened.contract if isinstance(opened, RequestOpened) else None
        pending = self.rows.find(MESSAGES, source=request.request, kind="step", state="pending")
        return Step(
            of=of,
            request=request,
            session=session,
            order=self.next_order(session),
            prompt=str(prompt.value) if prompt is not None else None,
            contract=None if contract is None else contract.value,
            timers=self._timers(of),
            pending=pending[0] if pending else None,
        )

    def asked(self, of: RunFacts) -> Step | None:
        """The open request of a run that is put to its session, if there is one."""
        if of.run.session is None or of.run.node is None:
            return None
        found = self.rows.find(REQUESTS, run_id=of.run.run_id, state="open")
        return next((self.step(of, each) for each in found if each.session is not None), None)

    def unsent(self, of: RunFacts) -> tuple[MessageRow, ...]:
        """What a run's end takes back of what its session was not sent; whatever else waits is not looked at."""
        if of.run.session is None:
            return ()
        of_run = {"run_id": of.run.run_id, "state": "pending"}
        return tuple(row for kind in TAKEN_BACK for row in self.rows.find(MESSAGES, **of_run, kind=kind))

    def next_order(self, session: str) -> int:
        """The next place among the messages of a session."""
        row = self.rows.get(SESSIONS, session)
        return 1 if row is None else row.messages + 1

    def order_of(self, of: RunFacts) -> int:
        """The next place among the messages of a run's session; of no meaning where it has none."""
        return 1 if of.run.session is None else self.next_order(of.run.session)

    def notified(self, of: RunFacts) -> bool:
        """Whether the step that a run is at has told the session something already."""
        message = notification_id(of.run.run_id, of.run.step_base + of.run.steps)
        return self.rows.get(MESSAGES, message) is not None

    def resolve(self, effect: str) -> ResolveFacts | None:
        """What an operator's word about an effect is decided on."""
        row = self.rows.get(EFFECTS, effect)
        of = None if row is None else self.run(row.run_id)
        if row is None or of is None:
            return None
        return ResolveFacts(of, row, self.unsettled(of, ending=False), self._result(row))

    def _inside(self, of: RunFacts, definition: Definition | None) -> tuple[MountRow, ...]:
        """The mounts that are open, outermost first."""
        if definition is not None and not definition.mounts:
            return ()
        found = self.rows.find(MOUNTS, run_id=of.run.run_id, inside=True)
        return tuple(sorted(found, key=lambda row: len(row.path)))

    def _visit(self, of: RunFacts, path: str) -> VisitRow | None:
        return self.rows.get(VISITS, of.run.run_id, path)

    def _effect(self, of: RunFacts, spec: NodeSpec, visit: int) -> EffectRow | None:
        return self.rows.get(EFFECTS, effect_id(of.run.run_id, spec.path, visit, spec.effect_type or ""))

    def _last_effect(self, of: RunFacts, definition: Definition | None) -> EffectRow | None:
        """The effect of the visit that started last: only there can one be unsettled."""
        if definition is None:
            at = (of.run.node, of.run.visit)
            found = self.rows.find(EFFECTS, run_id=of.run.run_id)
            return next((row for row in found if (row.path, row.visit) == at), None)
        spec = None if of.run.node is None else definition.nodes.get(of.run.node)
        if spec is None or spec.contract is None:
            return None
        return self._effect(of, spec, of.run.visit)

    def _newest_request(self, of: RunFacts, visit: VisitRow) -> RequestRow | None:
        found = self.rows.find(
            REQUESTS, run_id=of.run.run_id, path=visit.path, visit=visit.visits, attempt=visit.attempt
        )
        return max(found, key=lambda each: each.opened, default=None)

    def _open_requests(self, of: RunFacts) -> tuple[RequestRow, ...]:
        if not self._asks(of):
            return ()
        run_id = of.run.run_id
        return tuple(row for state in UNSETTLED for row in self.rows.find(REQUESTS, run_id=run_id, state=state))

    def _timers(self, of: RunFacts) -> tuple[TimerRow, ...]:
        run = of.run
        if run.timeout is None and run.session is None and run.status != "waiting" and not self._asks(of):
            # Nothing else sets one; a set of rows costs more than a row by its key.
            return ()
        return tuple(self.rows.find(TIMERS, run_id=run.run_id))

    def _asks(self, of: RunFacts) -> bool:
        """Whether a run stands, or may stand, at a question, whose time runs on whatever else it is parked for."""
        if of.run.node is None:
            return False
        definition = self.readable(of)
        spec = None if definition is None else definition.nodes.get(of.run.node)
        return definition is None or (spec is not None and spec.asks)

    def _turns(self, of: RunFacts) -> tuple[TurnRow, ...]:
        if of.run.session is None:
            return ()
        # At most one is open in a session; a run may have had many.
        found = self.rows.find(TURNS, session=of.run.session, state="open")
        return tuple(each for each in found if each.run_id == of.run.run_id)

    def _finished(self, visit: VisitRow) -> NodeFinished | None:
        recorded = None if visit.finished is None else self.tx.event(visit.finished)
        event = None if recorded is None else recorded.event
        return event if isinstance(event, NodeFinished) else None

    def _result(self, effect: EffectRow | None) -> str | None:
        if effect is None or effect.result is None:
            return None
        recorded = self.tx.event(effect.result)
        event = None if recorded is None else recorded.event
        if not isinstance(event, EffectApplied) or event.result is None:
            return None
        return encode(event.result.value)

    def _body(self, position: int) -> str:
        recorded = self.tx.event(position)
        return "" if recorded is None or recorded.body is None else recorded.body
