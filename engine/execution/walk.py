"""What one execution of a run holds: its nodes as they stand, and what it has not yet told its port."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from runwright.engine.agents.agent import Agent
from runwright.engine.arrivals import arrivals_of
from runwright.engine.authoring.declaration import Declaration
from runwright.engine.clock import Clock
from runwright.engine.commands.worker import FinishNode, Ready, WorkerTransition
from runwright.engine.execution.calling import OutOfTime, call
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.contexts import build_context
from runwright.engine.execution.failures import NodeFailure, classify, trace
from runwright.engine.execution.places import Places
from runwright.engine.execution.port import NodeState, Port, RunState, SavedEffect, revised
from runwright.engine.execution.speaking import speaking
from runwright.engine.execution.visit import Ended, Visit
from runwright.engine.graph.definition import Definition
from runwright.engine.graph.program import Program
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired
from runwright.engine.tasks import end_task, own_task

T = TypeVar("T")

#: Seconds that a small function may take which has no limit of its own: a timeout's, a wait's, an observation.
ASIDE_LIMIT = 60.0
#: How long what is settled may wait for the next node's request to be worked out, so that both share one commit.
PATIENCE = 0.005


class Refused(Exception):
    """The port refused a transition; what stood before it is committed.

    Attributes:
        transition: The one refused.
        answer: Why.
        values: What those before it answered.
    """

    def __init__(
        self, transition: WorkerTransition, answer: Conflict | RecoveryRequired, values: Sequence[object]
    ) -> None:
        super().__init__(type(transition).__name__)
        self.transition = transition
        self.answer = answer
        self.values = values

    @property
    def code(self) -> str:
        """The conflict's code, or the reason that recovery is required for."""
        return self.answer.code if isinstance(self.answer, Conflict) else self.answer.reason


class Walk:
    """One execution of one run."""

    def __init__(
        self,
        program: Program,
        state: RunState,
        port: Port,
        *,
        agents: Mapping[str, Agent],
        clock: Clock,
        log: OutputLog,
        ready: bool = False,
        secrets: Iterable[str] = (),
    ) -> None:
        self.program = program
        self.state = state
        self.port = port
        self.agents = agents
        self.clock = clock
        self.log = log
        #: Values that no error text may hold.
        self.secrets = tuple(secrets)
        self.places = Places(
            program.definition, state.nodes, state.mounts, steps=state.steps, max_steps=state.max_steps
        )
        #: The effect of the visit that was started last.
        self.effect: SavedEffect | None = state.effect
        self._pending: list[WorkerTransition] = [] if ready else [Ready()]

    @property
    def definition(self) -> Definition:
        """The compiled graph."""
        return self.program.definition

    @property
    def nodes(self) -> dict[str, NodeState]:
        """The nodes that were visited, as they stand."""
        return self.places.nodes

    # telling the port

    def owe(self, transitions: Iterable[WorkerTransition]) -> None:
        """Have transitions go out with the next commit."""
        self._pending.extend(transitions)

    @property
    def unheard(self) -> bool:
        """Whether nothing was committed yet, not even that the worker is ready."""
        return any(isinstance(each, Ready) for each in self._pending)

    def forget(self) -> None:
        """Take back what is owed."""
        self._pending = []

    async def commit(self, *transitions: WorkerTransition) -> list[object]:
        """Tell the port everything that is owed and these; answer the values of these.

        Raises:
            Refused: The port refused one of them.
        """
        told = [*self._pending, *transitions]
        self._pending = []
        if not told:
            return []
        answers = await self.port.transact(told)
        values: list[object] = []
        for transition, answer in zip(told, answers, strict=False):
            if not isinstance(answer, Applied | Adopted):
                raise Refused(transition, answer, values)
            values.append(answer.value)
        return values[len(values) - len(transitions) :]

    async def aside(self, work: Coroutine[Any, Any, T]) -> T:
        """Work something out before the next commit; what is owed waits for it only a moment."""
        task = own_task(work)
        prompt = arrivals_of(asyncio.get_running_loop()).prompt
        try:
            await asyncio.wait({task}, timeout=PATIENCE if prompt else None)
            if not task.done():
                await self.commit()
            return await task
        finally:
            if not task.done():
                end_task(task)
                await asyncio.wait({task})

    # the run's state

    def enter(self, path: str) -> Visit:
        """The first attempt of a new visit."""
        self.effect = None
        return self._open(self.places.visit(path))

    def again(self, path: str) -> Visit:
        """The next attempt of the same visit."""
        known = self.nodes[path]
        return self._open(revised(known, attempt=known.attempt + 1))

    def carry_on(self, path: str) -> Visit:
        """The attempt that was open when this worker came."""
        visit = self._visit(self.nodes[path])
        visit.resumed = True
        visit.request = self.state.request
        return visit

    def ended(self, visit: Visit, ended: Ended) -> NodeState:
        """The node as it stands when an attempt ended so."""
        self.nodes[visit.path] = revised(
            self.nodes[visit.path],
            open=False,
            outcome=ended.outcome,
            has_output=ended.outcome == "completed",
            output=ended.output,
            code=ended.code,
            error=ended.error,
            finished_at=self.port.now(),
        )
        return self.nodes[visit.path]

    def finish(self, visit: Visit, ended: Ended, next: str | None) -> None:
        """Owe the end of an attempt, and what has to be settled before it."""
        finish = FinishNode(
            path=visit.path,
            visit=visit.number,
            attempt=visit.attempt,
            outcome=ended.outcome,
            code=ended.code,
            next=next,
            output=ended.output,
            error=ended.error,
        )
        self.owe((*visit.opening(), *ended.settles, finish))

    def _open(self, node: NodeState) -> Visit:
        limit = self.definition.nodes[node.path].timeout_us
        now = self.port.now()
        self.nodes[node.path] = revised(
            node, open=True, started_at=now, deadline=None if limit is None else now + limit
        )
        return self._visit(self.nodes[node.path])

    def _visit(self, node: NodeState) -> Visit:
        return Visit(
            spec=self.definition.nodes[node.path],
            node=self.program.nodes[node.path],
            number=node.visits,
            attempt=node.attempt,
            deadline=node.deadline,
            limit=self.definition.nodes[node.path].timeout_us,
            effect=self.effect,
            context=build_context(
                self.program,
                self.state,
                self.places,
                path=node.path,
                visit=node.visits,
                attempt=node.attempt,
                deadline=node.deadline,
                log=self.log,
                report=lambda key, update: self.port.update(node.path, node.visits, node.attempt, key, update),
            ),
        )

    def limit(self, visit: Visit, us: int | None) -> None:
        """Give an attempt a limit of its own: what its node's function worked out, or none."""
        visit.limit = us
        visit.deadline = None if us is None else self.port.now() + us
        self.nodes[visit.path] = revised(self.nodes[visit.path], deadline=visit.deadline)
        visit.context = self._visit(self.nodes[visit.path]).context

    # the user's code

    def left(self, deadline: int | None) -> float | None:
        """Seconds until a deadline."""
        return None if deadline is None else (deadline - self.port.now()) / 1e6

    async def call(self, visit: Visit, function: Callable[..., object], *args: object) -> object:
        """Call a function of the user's within the attempt's time.

        Raises:
            NodeFailure: It raised, or ran out of time.
        """
        return await self.call_within(visit, self.left(visit.deadline), function, *args)

    async def call_within(
        self, visit: Visit, limit: float | None, function: Callable[..., object], *args: object
    ) -> object:
        """Call a function of the user's within a limit of its own.

        Raises:
            NodeFailure: It raised, or ran out of time.
        """
        return await self.call_at(visit.path, visit.declaration, limit, function, *args)

    async def call_at(
        self,
        path: str,
        declared: Declaration | None,
        limit: float | None,
        function: Callable[..., object],
        *args: object,
    ) -> object:
        """Call a function of the user's for a place.

        Raises:
            NodeFailure: It raised, or ran out of time.
        """
        try:
            with speaking(self.state.run_id, path, self.log):
                return await call(self.state.run_id, limit, function, *args)
        except NodeFailure:
            raise
        except Exception as error:  # noqa: BLE001 (the user's code may raise anything)
            raise self._failed(path, declared, error) from None

    def failed(self, visit: Visit, error: Exception, secrets: Iterable[str] = ()) -> NodeFailure:
        """What an exception of the user's means; its traceback goes to the run's own log."""
        return self._failed(visit.path, visit.declaration, error, secrets)

    def _failed(
        self, path: str, declared: Declaration | None, error: Exception, secrets: Iterable[str] = ()
    ) -> NodeFailure:
        failure = classify(error, declared, (*self.secrets, *secrets))
        self.log.line(f"{path} ERROR", failure.error if isinstance(error, OutOfTime | OSError) else trace(error))
        return NodeFailure(failure)
