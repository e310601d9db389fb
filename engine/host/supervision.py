"""Serving one worker: its messages one after another, its deadlines, and an end to everything it must not do."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, Literal, Protocol

from attrs import frozen

from runwright.engine.commands.worker import (
    Authority,
    ExitWorker,
    FinishNode,
    Ready,
    RegisterProcess,
    StartNode,
    UnregisterProcess,
    WorkerTransition,
)
from runwright.engine.embedded.holder import Holder
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.execution.port import RunState
from runwright.engine.host.limits import (
    AFTERWARDS,
    ANSWERS_KEPT,
    DEADLINE_GRACE,
    EXIT_GRACE,
    HEARING,
    READ_AHEAD,
    START_UP,
    STORE_PATIENCE,
    STORE_PAUSE,
)
from runwright.engine.host.rules import Rules, RulesBroken
from runwright.engine.results import Adopted, Applied, Conflict, Result
from runwright.engine.tasks import end_task, own_task
from runwright.engine.wire.errors import WireError
from runwright.engine.worker.envelope import Launch
from runwright.engine.worker.messages import (
    Answer,
    Command,
    Exiting,
    FromChild,
    FromHost,
    FromWorker,
    Renew,
    SayReady,
    Stop,
    Transact,
)
from runwright.engine.worker.transitions import as_data
from runwright.eventstore.errors import StoreError
from runwright.eventstore.events.event import ProcessIdentity

_log = logging.getLogger("runwright.host")

_DONE: Final = (Applied, Adopted)


class Channel(Protocol):
    """The host's end of a child's channel."""

    async def send(self, message: FromHost) -> None:
        """Send a message; returns once there is room for the next.

        Raises:
            OSError: The child is gone.
        """
        ...

    async def receive(self) -> FromChild | None:
        """The next message; ``None`` once nothing more comes.

        Raises:
            WireError: What came is no message.
        """
        ...


@frozen
class Verdict:
    """How a worker's end is recorded that it did not say itself.

    Attributes:
        outcome: As `RecordExit` has it; ``None`` where its own word stands, ``claim_lost`` where its run was ended.
        detail: What it did, or did not do, in words of ours.
    """

    outcome: Literal["crashed", "orphaned", "timed_out", "rejected", "claim_lost"] | None
    detail: str | None = None


class _Overdue(Exception):
    """A worker has let a limit pass."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Supervision:
    """One worker, from its envelope to the last of its messages.

    Args:
        holder: The open store.
        bridge: Brings the writer's answers to the loop.
        channel: The worker's channel.
        authority: Its claim.
        state: The run as it is saved, with its command.
    """

    def __init__(
        self, holder: Holder, bridge: LoopBridge, channel: Channel, authority: Authority, state: RunState
    ) -> None:
        self._transitions = holder.transitions
        self._clock = holder.clock
        self._bridge = bridge
        self._channel = channel
        self._authority = authority
        self._state = state
        self._rules = Rules(authority, holder.clock.monotonic)
        self._inbox: asyncio.Queue[FromChild | RulesBroken | None] = asyncio.Queue(READ_AHEAD)
        self._kept: dict[int, FromHost] = {}
        self._last = 0
        #: What is due when, on the monotonic clock, with what it is called when it has passed.
        self._due: tuple[float, str] | None = None
        self._stopping: asyncio.Task[None] | None = None
        #: Whether the worker said that it is ready, and was told its command.
        self.ready = False
        #: How the worker said it ended, once that is committed.
        self.exited: ExitWorker | None = None
        #: The processes that it named and that it has not said to be gone.
        self.processes: set[ProcessIdentity] = set()

    async def carry(self, launch: Launch) -> Verdict:
        """Send the envelope, and serve the worker until it ended or has to be ended; whoever asks sees to its end."""
        reader = own_task(self._read(), name=f"channel of {launch.run_id}")
        self._expect(START_UP, "it was not ready in time")
        try:
            await self._send(launch)
            while (message := await self._next()) is not None:
                verdict = await self._serve(self._rules.check(message))
                if verdict is not None:
                    return verdict
            return self._gone()
        except RulesBroken as broken:
            return self._or_said("rejected", broken.problem)
        except _Overdue as overdue:
            return self._or_said("timed_out", overdue.what)
        except StoreError as error:
            _log.warning("run %s was stopped: %s", launch.run_id, error.code)
            return self._or_said("orphaned", None)
        except OSError:
            return self._gone()
        finally:
            end_task(reader)
            if self._stopping is not None:
                end_task(self._stopping)

    def stop(self) -> None:
        """Ask the worker to park its run at the next boundary."""
        if self._stopping is None:
            self._stopping = own_task(self._ask_to_stop())

    async def _ask_to_stop(self) -> None:
        try:
            await self._channel.send(Stop())
        except OSError:
            return  # it is gone, and whoever serves it sees that

    # --- listening ----------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        """Take messages in, a few ahead, so that a worker's flood waits in its own pipe."""
        try:
            while (message := await self._channel.receive()) is not None:
                await self._inbox.put(message)
            await self._inbox.put(None)
        except WireError as error:
            await self._inbox.put(RulesBroken(error.message.rstrip(".").lower()))
        except OSError:
            await self._inbox.put(None)

    async def _next(self) -> FromChild | None:
        """The next message, within what is due."""
        while True:
            try:
                async with asyncio.timeout(self._patience()):
                    return self._taken(await self._inbox.get())
            except TimeoutError:
                pass  # nothing came; whether something is overdue is asked next
            if (what := self._overdue()) is None:
                continue
            try:
                # Where this process itself stood still, what came meanwhile counts first.
                async with asyncio.timeout(HEARING):
                    return self._taken(await self._inbox.get())
            except TimeoutError:
                raise _Overdue(what) from None

    @staticmethod
    def _taken(message: "FromChild | RulesBroken | None") -> FromChild | None:
        if isinstance(message, RulesBroken):
            raise message
        return message

    def _expect(self, seconds: float | None, otherwise: str = "") -> None:
        """Set what is due next; ``None`` for nothing but the lease."""
        self._due = None if seconds is None else (self._clock.monotonic() + seconds, otherwise)

    def _patience(self) -> float:
        """Seconds until something is due; at the latest when the lease is over."""
        lease = self._transitions.leases.left(self._authority.run_id, self._authority.generation)
        due = lease if self._due is None else min(lease, self._due[0] - self._clock.monotonic())
        return max(0.0, due)

    def _overdue(self) -> str | None:
        if self._due is not None and self._due[0] <= self._clock.monotonic():
            return self._due[1]
        if self._transitions.leases.left(self._authority.run_id, self._authority.generation) <= 0:
            return "it was not heard of for as long as its lease lasts"
        return None

    # --- serving ------------------------------------------------------------------------------------------------

    async def _serve(self, message: FromWorker) -> Verdict | None:
        match message:
            case Renew():
                await self._bridge.wrap(self._transitions.renew(self._authority))
            case SayReady() | Transact():
                if (kept := self._kept.get(message.id)) is not None:
                    await self._send(kept)
                    return None
                if message.id <= self._last - ANSWERS_KEPT:
                    raise RulesBroken("it repeated a message that was answered long ago")
                self._last = max(self._last, message.id)  # threads of a worker may pass each other
                await self._ready(message) if isinstance(message, SayReady) else await self._transact(message)
            case Exiting():
                return self._said(message)
        return None

    async def _ready(self, message: SayReady) -> None:
        (result,) = await self._decide([Ready()])
        if not isinstance(result, _DONE):
            await self._answer(message.id, Answer(id=message.id, results=as_data([result])))
            return
        self.ready = True
        node = None if self._state.node is None else self._state.nodes.get(self._state.node)
        self._within(node.deadline if node is not None and node.open else None)
        await self._answer(message.id, Command(state=self._state))

    async def _transact(self, message: Transact) -> None:
        results = await self._decide(message.transitions)
        await self._answer(message.id, Answer(id=message.id, results=as_data(results)))

    async def _answer(self, id: int, answer: FromHost) -> None:
        self._kept[id] = answer
        while len(self._kept) > ANSWERS_KEPT:
            del self._kept[next(iter(self._kept))]
        await self._send(answer)

    async def _send(self, message: FromHost) -> None:
        try:
            async with asyncio.timeout(self._patience() + HEARING):
                await self._channel.send(message)
        except TimeoutError:
            raise _Overdue(self._overdue() or "it does not read what it is told") from None

    async def _decide(self, transitions: Sequence[WorkerTransition]) -> list[Result[object]]:
        """Have a list decided; while the store cannot take it, again and again, with the lease kept."""
        until = self._clock.monotonic() + STORE_PATIENCE
        while True:
            try:
                results = await self._bridge.wrap(self._transitions.worker(self._authority, transitions))
                break
            except StoreError:
                if self._clock.monotonic() >= until:
                    raise
            self._transitions.leases.renew(self._authority.run_id, self._authority.generation)
            await asyncio.sleep(STORE_PAUSE)
        for transition, result in zip(transitions, results, strict=False):
            self._follow(transition, result)
        return results

    def _follow(self, transition: WorkerTransition, result: Result[object]) -> None:
        if isinstance(result, Conflict) and result.code == "claim_lost":
            self._expect(EXIT_GRACE, "it went on without its claim")
        if not isinstance(result, _DONE):
            return
        match transition:
            case StartNode():
                self._within(transition.deadline)
            case FinishNode(outcome="timed_out"):
                self._expect(AFTERWARDS, "a function of it went on after its time was up")
            case FinishNode():
                self._expect(None)
            case RegisterProcess():
                self.processes.add(transition.process)
            case UnregisterProcess():
                self.processes.discard(transition.process)
            case ExitWorker():
                self.exited = transition
                self._expect(EXIT_GRACE, "it did not exit")
            case _:
                pass

    def _within(self, deadline: int | None) -> None:
        """Expect a node's end by its deadline (UTC microseconds), and a little later."""
        left = None if deadline is None else (deadline - self._clock.now()) / 1_000_000 + DEADLINE_GRACE
        self._expect(left, "a node went on after its time was up")

    # --- the end ------------------------------------------------------------------------------------------------

    def _said(self, message: Exiting) -> Verdict:
        if message.problem:
            _log.warning("run %s: its worker exits: %s", message.run_id, message.problem)
        return self._or_said("crashed", message.problem or None)

    def _gone(self) -> Verdict:
        return self._or_said("crashed", None)

    def _or_said(self, outcome: Literal["crashed", "orphaned", "timed_out", "rejected"], detail: str | None) -> Verdict:
        """What was observed, unless the worker's own word about its end is committed already."""
        return Verdict(None if self.exited is not None else outcome, detail)
