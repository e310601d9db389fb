"""The executor's port wherever it runs: transitions go out under one claim, a future of the loop brings answers."""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from runwright.engine.arrivals import arrivals_of
from runwright.engine.clock import Clock
from runwright.engine.commands.worker import (
    Authority,
    EnterMount,
    ExitWorker,
    FinishNode,
    ParkRun,
    StartNode,
    WorkerTransition,
)
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.execution.port import RunState
from runwright.engine.execution.updates import UpdateBuffer
from runwright.engine.results import Adopted, Applied, Result
from runwright.engine.tasks import own_task
from runwright.eventstore.errors import StoreError
from runwright.eventstore.values import Json

_log = logging.getLogger("runwright.engine")

Submit = Callable[[Authority, Sequence[WorkerTransition]], "Future[list[Result[object]]]"]


class HostStopping(BaseException):
    """The holder is stopping, and the run was parked at this boundary.

    Control flow that neither a node's function nor an executor's ``except Exception`` may swallow.
    """


class TransactingPort:
    """Hands an executor's transitions to whatever has them decided, under one claim.

    Args:
        authority: The claim.
        submit: In process the transitions' entrance for workers, in a worker its channel.
        bridge: Brings answers to the loop.
        clock: The holder's clock, or what agrees with it.
        stopping: Set once the holder wants every run to stop at its next boundary.
    """

    def __init__(
        self,
        *,
        authority: Authority,
        submit: Submit,
        bridge: LoopBridge,
        clock: Clock,
        stopping: threading.Event,
    ) -> None:
        self._authority = authority
        self._submit = submit
        self._bridge = bridge
        self._clock = clock
        self._stopping = stopping
        self._loop = asyncio.get_running_loop()
        self._updates = UpdateBuffer(clock.monotonic, self._wake)
        self._open: tuple[str | None, int, int] = (None, 0, 0)
        self._flush: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._closed = False
        #: How the worker said it ended, once that is committed.
        self.exited: ExitWorker | None = None

    @property
    def worker(self) -> str:
        """The worker epoch that this port speaks for."""
        return self._authority.worker

    async def transact(self, transitions: Sequence[WorkerTransition]) -> list[Result[object]]:
        """Have transitions decided in order and committed together; returns after the commit.

        Raises:
            HostStopping: A node was to start, or a mount to be entered, while the holder is stopping; what stood
                before it is committed.
        """
        ordered = list(transitions)
        updates: list[WorkerTransition] = []
        if any(isinstance(each, FinishNode) for each in ordered):
            updates = list(self._updates.take(*self._open))
        if self._stopping.is_set() and (cut := _first_start(ordered)) is not None:
            await self._park_instead([*updates, *ordered[:cut]])
        results = await self._send([*updates, *ordered])
        return results[len(updates) :]

    def go_on(self, state: RunState) -> None:
        """Learn which attempt is open already, so that what it reports is written, too."""
        node = None if state.node is None else state.nodes.get(state.node)
        if node is not None and node.open:
            self._open = (node.path, node.visits, node.attempt)

    def update(self, path: str, visit: int, attempt: int, key: str, update: Json) -> None:
        """Hand over a progress update; never blocks, never raises."""
        self._updates.put(path, visit, attempt, key, update)

    def now(self) -> int:
        """The holder's clock in UTC microseconds."""
        return self._clock.now()

    def close(self) -> None:
        """Write no update any more."""
        self._closed = True
        if self._flush is not None:
            self._flush.cancel()

    async def _send(self, transitions: Sequence[WorkerTransition]) -> list[Result[object]]:
        results = await self._bridge.wrap(self._submit(self._authority, transitions))
        for transition, result in zip(transitions, results, strict=False):
            if isinstance(result, Applied | Adopted):
                self._follow(transition)
        return results

    def _follow(self, transition: WorkerTransition) -> None:
        match transition:
            case StartNode():
                self._open = (transition.path, transition.visit, transition.attempt)
                self._plan()
            case FinishNode():
                self._open = (None, 0, 0)
                self._updates.end(transition.path, transition.visit, transition.attempt)
            case ExitWorker():
                self.exited = transition
            case _:
                pass

    async def _park_instead(self, before: list[WorkerTransition]) -> None:
        await self._send([*before, ParkRun(reason="host_stopped"), ExitWorker(outcome="parked")])
        raise HostStopping

    def _wake(self) -> None:
        """Called from any thread when there is a first update to write."""
        try:
            self._loop.call_soon_threadsafe(self._plan)
        except RuntimeError:
            # The loop is closed: the run it drove has been put away.
            self._closed = True

    def _plan(self) -> None:
        if self._closed or self._flush is not None or self._flushing is not None:
            return
        if not arrivals_of(self._loop).prompt:
            return  # they go with the end of their attempt
        if (delay := self._updates.delay) is not None:
            self._flush = self._loop.call_later(delay, self._write)

    def _write(self) -> None:
        self._flush = None
        if taken := self._updates.take(*self._open):
            self._flushing = own_task(self._write_out(taken))
        elif self._updates.delay:
            self._plan()
        # Else what waits belongs to an attempt that is about to start, and goes with its start.

    async def _write_out(self, taken: Sequence[WorkerTransition]) -> None:
        try:
            await self._send(taken)
        except StoreError as error:
            # What stands in the way of an update stands in the way of the run's next transition, which tells it.
            _log.debug("progress of run %s was not written: %s", self._authority.run_id, error.code)
        finally:
            self._flushing = None
            self._plan()


def _first_start(transitions: Sequence[WorkerTransition]) -> int | None:
    """Where something new begins: a node, or a mount on the way to it."""
    return next((index for index, each in enumerate(transitions) if isinstance(each, StartNode | EnterMount)), None)
