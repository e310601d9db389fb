"""The engine for programs without a loop of their own: one background loop, and the same names."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from runwright.engine.agents.agent import Agent
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.clock import Clock
from runwright.engine.commands.session import SessionCommand, SessionView
from runwright.engine.embedded.answering import Answered
from runwright.engine.embedded.async_engine import GRACE, AsyncEngine, Until
from runwright.engine.embedded.background import Background
from runwright.engine.embedded.driving import CAPACITY
from runwright.engine.embedded.errors import WrongThread
from runwright.engine.embedded.outcome import Outcome
from runwright.engine.embedded.preflight import Surroundings
from runwright.engine.embedded.resolving import Resolution
from runwright.engine.reading.effects import Effect
from runwright.engine.reading.pages import RowsPage
from runwright.engine.reading.reader import ExportFormat, Reader
from runwright.engine.reading.requests import Request
from runwright.engine.reading.status import Status
from runwright.engine.results import Adopted, Applied
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.errors import Forked, StoreClosed
from runwright.eventstore.follow import Subscription
from runwright.eventstore.values import Json, JsonObject
from runwright.eventstore.verdict import Verdict
from runwright.projections.query import PAGE

I = TypeVar("I")  # noqa: E741 - the name of the input's type everywhere in the public surface
T = TypeVar("T")


class Engine:
    """Holds a store and drives its runs in the background; every call may come from any thread.

    Open it with ``with Engine.open(path) as engine``, or call `close` in the end. The methods are those of
    `AsyncEngine`, which has their full descriptions.
    """

    def __init__(self, engine: AsyncEngine, background: Background) -> None:
        self._engine = engine
        self._background = background
        self._pid = os.getpid()
        self._head: Head | None = None

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        agents: Mapping[str, Agent] | None = None,
        workflows: Iterable[Workflow[Any]] = (),
        wait_lock: float | None = None,
        capacity: int = CAPACITY,
        client: str = "engine",
        user: Path | None = None,
        clock: Clock | None = None,
        random: Callable[[int], bytes] = os.urandom,
        unsafe_filesystem: bool = False,
    ) -> "Engine":
        """Take the store at ``path``; arguments and errors are those of `AsyncEngine.open`."""
        background = Background()
        opening = AsyncEngine.open(
            path,
            agents=agents,
            workflows=workflows,
            wait_lock=wait_lock,
            capacity=capacity,
            client=client,
            user=user,
            clock=clock,
            random=random,
            unsafe_filesystem=unsafe_filesystem,
        )

        async def opened() -> AsyncEngine:
            return await opening

        try:
            engine = asyncio.run_coroutine_threadsafe(opened(), background.loop).result()
        except BaseException:
            background.end()
            raise
        return cls(engine, background)

    @property
    def reader(self) -> Reader:
        """The questions that need no lock."""
        self._check_process()
        return self._engine.reader

    def close(self, *, grace: float = GRACE) -> Head | None:
        """Let runs stop at their next boundary, at most ``grace`` seconds, and give the store back.

        An interrupt while it waits ends what still runs at once.

        Returns:
            The log's head, to be kept elsewhere, or ``None`` where the end could not be recorded.
        """
        self._check_process()
        if self._background.loop.is_closed():
            return self._head
        try:
            self._head = self._call(self._engine.close(grace=grace))
        except KeyboardInterrupt:
            self._head = self._call(self._engine.close(grace=0))
            raise
        finally:
            self._background.end()
        return self._head

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    # --- starting -----------------------------------------------------------------------------------------------

    @overload
    def start(
        self,
        workflow: Workflow[JsonObject] | str,
        input: JsonObject,
        *,
        key: str | None = None,
        session: str | None = None,
        surroundings: Surroundings | None = None,
        drive: bool = True,
    ) -> str: ...
    @overload
    def start(
        self,
        workflow: Workflow[I],
        input: I,
        *,
        key: str | None = None,
        session: str | None = None,
        surroundings: Surroundings | None = None,
        drive: bool = True,
    ) -> str: ...
    def start(
        self,
        workflow: Any,
        input: Any,
        *,
        key: str | None = None,
        session: str | None = None,
        surroundings: Surroundings | None = None,
        drive: bool = True,
    ) -> str:
        """Queue a run durably, and drive it in the background; answer its ID."""
        return self._call(
            self._engine.start(workflow, input, key=key, session=session, surroundings=surroundings, drive=drive)
        )

    @overload
    def run(
        self,
        workflow: Workflow[JsonObject] | str,
        input: JsonObject,
        *,
        timeout: float | None = None,
        surroundings: Surroundings | None = None,
    ) -> Outcome: ...
    @overload
    def run(
        self, workflow: Workflow[I], input: I, *, timeout: float | None = None, surroundings: Surroundings | None = None
    ) -> Outcome: ...
    def run(
        self, workflow: Any, input: Any, *, timeout: float | None = None, surroundings: Surroundings | None = None
    ) -> Outcome:
        """Start a run and wait until it has ended, or until nothing but somebody's command can move it.

        An interrupt leaves it: it goes on until `close`, and can be resumed after it.
        """
        return self._call(self._engine.run(workflow, input, timeout=timeout, surroundings=surroundings))

    def drive(self, run_id: str) -> None:
        """Drive a run whenever it may go on, without giving it any command; one that has ended is left as it is."""
        self._call(self._engine.drive(run_id))

    def wait(self, run_id: str, *, until: Until = "finished", timeout: float | None = None) -> Outcome:
        """Wait until a run has ended, or (``waiting``) until nothing moves it by itself."""
        return self._call(self._engine.wait(run_id, until=until, timeout=timeout))

    # --- steering -----------------------------------------------------------------------------------------------

    def pause(self, run_id: str) -> Applied[str] | Adopted[str]:
        """Let no further node of a run start."""
        return self._call(self._engine.pause(run_id))

    def resume(self, run_id: str, *, accept_source: bool = False) -> Applied[str] | Adopted[str]:
        """Let a paused or parked run go on, and drive it here; a queued one is only driven."""
        return self._call(self._engine.resume(run_id, accept_source=accept_source))

    def cancel(self, run_id: str, *, reason: str = "") -> Applied[str] | Adopted[str]:
        """End a run now, whatever it is doing."""
        return self._call(self._engine.cancel(run_id, reason=reason))

    def resolve(
        self, effect_id: str, outcome: Resolution, *, result: object = None, reason: str
    ) -> Applied[str] | Adopted[str]:
        """Say what became of an ambiguous effect; its run goes on."""
        return self._call(self._engine.resolve(effect_id, outcome, result=result, reason=reason))

    def tell_session(self, command: SessionCommand) -> Applied[Any] | Adopted[Any]:
        """Hand in what a session's coordinator reports or asks."""
        return self._call(self._engine.tell_session(command))

    def session_view(self, session: str) -> SessionView:
        """A session as its coordinator sees it: who holds it, its open turn, its current message."""
        return self._call(self._engine.session_view(session))

    def follow_up(
        self, run_id: str, text: str, *, session: str, epoch: str, key: str | None = None
    ) -> Applied[str] | Adopted[str]:
        """Have a text sent to a live run's own session once the run has completed."""
        return self._call(self._engine.follow_up(run_id, text, session=session, epoch=epoch, key=key))

    def restart(self, run_id: str, *, at: str | None = None, key: str | None = None, drive: bool = True) -> str:
        """Run an ended run's workflow afresh, from the first node or from ``at``; answer the new run's ID."""
        return self._call(self._engine.restart(run_id, at=at, key=key, drive=drive))

    def answer(self, request_id: str, value: object, *, key: str | None = None, drive: bool = True) -> Answered:
        """Answer a checkpoint, or an agent's request that no worker is waiting for."""
        return self._call(self._engine.answer(request_id, value, key=key, drive=drive))

    def decide(
        self,
        request_id: str,
        choice: str,
        *,
        text: str | None = None,
        by: str,
        digest: str | None = None,
        key: str | None = None,
        drive: bool = True,
    ) -> Answered:
        """Make a person's decision; the caller vouches for that person, and the run goes on by itself."""
        return self._call(
            self._engine.decide(request_id, choice, text=text, by=by, digest=digest, key=key, drive=drive)
        )

    def submit(
        self,
        request_id: str,
        value: object,
        *,
        session: str | None = None,
        epoch: str | None = None,
        key: str | None = None,
    ) -> Answered:
        """Hand in a candidate for an agent's request, and wait for the verdict on it."""
        return self._call(self._engine.submit(request_id, value, session=session, epoch=epoch, key=key))

    def update_request(
        self,
        request_id: str,
        *,
        name: str = "overall",
        completed: float | None = None,
        total: float | None = None,
        unit: str = "",
        message: str = "",
        session: str | None = None,
        epoch: str | None = None,
        key: str | None = None,
    ) -> Applied[str] | Adopted[str]:
        """Report progress of the attempt that waits for an agent's answer."""
        progress: dict[str, Any] = {"completed": completed, "total": total, "unit": unit, "message": message}
        return self._call(
            self._engine.update_request(request_id, name=name, **progress, session=session, epoch=epoch, key=key)
        )

    # --- asking -------------------------------------------------------------------------------------------------

    def status(self, run_id: str) -> Status:
        """A run's status."""
        return self.reader.status(run_id)

    def session_status(self, session: str) -> Status:
        """The status of the run that holds a session, else of its latest."""
        return self.reader.session_status(session)

    def output(self, run_id: str, node: str | None = None) -> Json:
        """A run's final output, or a node's last accepted one."""
        return self.reader.output(run_id, node)

    def requests(self, run_id: str | None = None) -> list[Request]:
        """Open requests, of one run or all."""
        return self.reader.requests(run_id)

    def effects(self, run_id: str | None = None, *, state: str | None = None) -> list[Effect]:
        """Effects, of one run or all, in one state or any."""
        return self.reader.effects(run_id, state=state)

    def query(
        self,
        projection: str,
        *,
        where: Sequence[str] = (),
        sort: Sequence[str] = (),
        limit: int = PAGE,
        cursor: str | None = None,
    ) -> RowsPage:
        """A page of a projection's rows."""
        return self.reader.query(projection, where=where, sort=sort, limit=limit, cursor=cursor)

    def events(
        self, run_id: str | None = None, *, types: Sequence[str] = (), after: int = 0, limit: int | None = None
    ) -> list[RecordedEvent]:
        """Events in order, of one run or all."""
        return list(self.reader.events(run_id, types=types, after=after, limit=limit))

    def follow(self, after: int) -> Subscription:
        """Events after a position, then new ones as they commit."""
        return self.reader.follow(after)

    def replay(self, run_id: str, *, at: int | None = None, step: int | None = None) -> JsonObject:
        """A run's control rows as of a position, rebuilt from its events."""
        return self.reader.replay(run_id, at=at, step=step)

    def export(
        self, run_id: str | None = None, *, format: ExportFormat = "native", with_values: bool = False
    ) -> Iterator[bytes]:
        """The lines of an export, read as they are taken."""
        return self.reader.export(run_id, format=format, with_values=with_values)

    def verify(self, *, deep: bool = False, head: Head | None = None) -> Verdict:
        """Check the whole store against its chain."""
        return self.reader.verify(deep=deep, head=head)

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            self._check_process()
            if threading.current_thread() is self._background:
                raise WrongThread
            answer = self._submit(work)
        except BaseException:
            work.close()
            raise
        try:
            return answer.result()
        except KeyboardInterrupt:
            # Whoever waited is gone; what was committed, and the run, are not.
            answer.cancel()
            raise

    def _submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        try:
            return asyncio.run_coroutine_threadsafe(work, self._background.loop)
        except RuntimeError:
            # The loop was closed with the engine.
            raise StoreClosed from None

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise Forked
