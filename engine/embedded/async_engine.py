"""The engine in process, on the calling loop: start runs, drive them, steer them, ask about them."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from runwright.engine.agents.agent import Agent
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.clock import Clock
from runwright.engine.commands.client import Caller
from runwright.engine.embedded.async_conversing import AsyncConversing
from runwright.engine.embedded.catalog import Catalog
from runwright.engine.embedded.code import UNTYPED, Code, Prepared, Starting, Typed
from runwright.engine.embedded.driving import CAPACITY, Look
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.in_process import InProcess
from runwright.engine.embedded.known import Started
from runwright.engine.embedded.launcher import NOTHING, Launcher, Provisions
from runwright.engine.embedded.local_code import LocalCode
from runwright.engine.embedded.opening import Opening
from runwright.engine.embedded.outcome import Outcome
from runwright.engine.embedded.preflight import Surroundings, prepare, queue_command
from runwright.engine.errors import PreflightError, WorkflowNotFound
from runwright.engine.identity import new_id
from runwright.engine.results import Adopted, Applied
from runwright.engine.sources.locate import typed_reference
from runwright.engine.texts import check_name
from runwright.eventstore.envelope import Head
from runwright.eventstore.values import JsonObject

I = TypeVar("I")  # noqa: E741 - the name of the input's type everywhere in the public surface

Until = Literal["finished", "waiting", "asked"]

#: Seconds that `close` gives runs to reach their next boundary.
GRACE = 10.0


class AsyncEngine(AsyncConversing):
    """Holds a store and drives its runs as tasks of the loop that opened it.

    Open it with ``async with AsyncEngine.open(path) as engine``, or ``await AsyncEngine.open(path)``.
    """

    def __init__(
        self,
        holder: Holder,
        *,
        code: Code,
        launcher: Launcher,
        catalog: Catalog | None = None,
        capacity: int = CAPACITY,
        client: str = "engine",
    ) -> None:
        """Put an engine together, and drive what may go on; `open` and `in_process` do it for a program.

        Args:
            holder: The open store.
            code: Who is asked about workflows' code.
            launcher: Who carries runs out.
            catalog: Where `Workflow` objects are known; ``None`` where only what is named can be started.
            capacity: How many runs are driven at once.
            client: Who is said to give the commands.
        """
        super().__init__(holder, code=code, launcher=launcher, capacity=capacity, client=client)
        self._catalog = catalog
        self._driving.begin()
        self._judging.begin()

    @classmethod
    def in_process(
        cls,
        holder: Holder,
        *,
        catalog: Catalog,
        agents: Mapping[str, Agent],
        capacity: int = CAPACITY,
        client: str = "engine",
    ) -> Self:
        """An engine over an open store that asks code and carries runs out in this process, on the running loop."""
        launcher = InProcess(holder, catalog, dict(agents))
        code = LocalCode(catalog)
        return cls(holder, code=code, launcher=launcher, catalog=catalog, capacity=capacity, client=client)

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
    ) -> "Opening[AsyncEngine]":
        """Take the store at ``path``, put away what its last holder left, and drive what may go on.

        Args:
            path: The state directory; it is made where there is none.
            agents: The executors of agent and choose nodes by name.
            workflows: Workflows whose runs are driven without being asked for; others wait for `resume`.
            wait_lock: Seconds to wait for another holder; ``None`` not at all.
            capacity: How many runs are driven at once.
            client: Who is said to give the commands.
            user: The user's configuration folder, which may hold workflows.
            clock: The clocks.
            random: Answers that many random bytes.
            unsafe_filesystem: Whether to open it on a network file system, too.

        Raises:
            StoreInUse: Another process holds the store; and the other errors of `EventLog.open`.
            WorkflowInvalid: A workflow that was handed in does not hold.
        """

        async def opened() -> "AsyncEngine":
            catalog = Catalog(workflows, user=user)
            holder = await asyncio.to_thread(
                Holder.open,
                Path(path),
                wait_lock=wait_lock,
                clock=clock,
                random=random,
                unsafe_filesystem=unsafe_filesystem,
            )
            try:
                return cls.in_process(holder, catalog=catalog, agents=agents or {}, capacity=capacity, client=client)
            except BaseException:
                holder.close()
                raise

        return Opening(opened)

    async def close(self, *, grace: float = GRACE) -> Head | None:
        """Stop: no new runs, those under way stop at their next boundary, and the store is given back.

        Args:
            grace: Seconds that they may take; after that their tasks are cancelled and their programs ended.

        Returns:
            The log's head, to be kept elsewhere, or ``None`` where the end could not be recorded.
        """
        await self.drain(grace=grace)
        return await asyncio.to_thread(self._holder.close)

    async def drain(self, *, grace: float = GRACE) -> None:
        """Begin nothing more, and let what is under way stop at its next boundary; reading and `close` are left.

        Args:
            grace: As for `close`.
        """
        self._check_process()
        if not self._closed:
            self._closed = True
            await self._driving.stop(grace)

    @property
    def settled(self) -> bool:
        """Whether nothing is under way here and nothing is due: only somebody's command changes anything."""
        return self._driving.settled and self._holder.settled

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.close()

    # --- starting -----------------------------------------------------------------------------------------------

    @overload
    async def start(
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
    async def start(
        self,
        workflow: Workflow[I],
        input: I,
        *,
        key: str | None = None,
        session: str | None = None,
        surroundings: Surroundings | None = None,
        drive: bool = True,
    ) -> str: ...
    async def start(
        self,
        workflow: Workflow[Any] | str,
        input: object,
        *,
        key: str | None = None,
        session: str | None = None,
        surroundings: Surroundings | None = None,
        drive: bool = True,
    ) -> str:
        """Queue a run durably, and drive it in the background; answer its ID, committed. As `queue`."""
        result = await self.queue(workflow, input, key=key, session=session, surroundings=surroundings, drive=drive)
        return result.value

    async def queue(
        self,
        workflow: Workflow[Any] | str,
        input: object,
        *,
        key: str | None = None,
        session: str | None = None,
        surroundings: Surroundings | None = None,
        drive: bool = True,
        caller: Caller | None = None,
        provisions: Provisions = NOTHING,
        typed: Typed = UNTYPED,
    ) -> Applied[str] | Adopted[str]:
        """Queue a run durably, and drive it in the background.

        Args:
            workflow: The workflow, or how it is named: a file, a name, an import path.
            input: Its input; JSON where the workflow is only named.
            key: The idempotency key: a repeat with the same key and input answers the first run.
            session: The conversation that starts it: the run holds it, and begins at its next idle boundary.
            surroundings: Where it is started; by default the current folder.
            drive: Whether this engine drives it; otherwise it waits for a `resume`.
            caller: Who asks, under a key of its own.
            provisions: What is handed over for the run and kept in memory only.
            typed: What was typed for it, beside the input; only for a workflow that is named.

        Returns:
            The run ID with its revision, committed.

        Raises:
            PreflightError: It cannot be started; nothing was written.
            ConflictError: The key was used for something else, or another run holds the session.
        """
        self._check_open()
        surroundings = surroundings or Surroundings(cwd=Path.cwd())
        run_id = new_id(self._holder.clock.now(), self._holder.random)
        caller = self._identity.caller(key, caller)
        with self._provided(run_id, provisions):
            try:
                starting, prepared = await self._prepare(workflow, input, run_id, surroundings, typed, session)
            except PreflightError:
                cwd = surroundings.cwd
                given = Started(workflow=workflow, input=input, cwd=cwd, session=session, typed=typed)
                if (known := self._known(caller, given, new=run_id, provisions=provisions)) is None:
                    raise
                return known
            command = queue_command(prepared, starting)
            result = await self._send(command, caller)
        if result.value != run_id:
            self._adopted(run_id, result.value, provisions)
        if not drive:
            return result
        if isinstance(result, Applied):
            self._driving.queued(command, prepared.program)
        else:
            self._driving.take(result.value, prepared.program)
            self._driving.look(result.value)
        return result

    @overload
    async def run(
        self,
        workflow: Workflow[JsonObject] | str,
        input: JsonObject,
        *,
        timeout: float | None = None,
        surroundings: Surroundings | None = None,
    ) -> Outcome: ...
    @overload
    async def run(
        self, workflow: Workflow[I], input: I, *, timeout: float | None = None, surroundings: Surroundings | None = None
    ) -> Outcome: ...
    async def run(
        self,
        workflow: Any,
        input: Any,
        *,
        timeout: float | None = None,
        surroundings: Surroundings | None = None,
    ) -> Outcome:
        """Start a run and wait until it has ended, or until nothing but somebody's command can move it.

        Args:
            workflow: As for `start`.
            input: As for `start`.
            timeout: Seconds to wait; the run itself goes on.
            surroundings: As for `start`.
        """
        return await self.wait(
            await self.start(workflow, input, surroundings=surroundings), until="waiting", timeout=timeout
        )

    async def drive(self, run_id: str) -> None:
        """Drive a run whenever it may go on, without giving it any command.

        One that has ended never goes on: it is left as it is, whatever has become of its workflow since. A run may end
        at any moment, so whoever drives one need not look first; `wait` answers how it stands.

        Raises:
            NotFound: There is no such run.
            PreflightError: Its workflow cannot be loaded.
            RecoveryRequiredError: Its workflow or an executor is missing here, or its sources have changed.
        """
        self._check_open()
        if not self._driving.taken(run_id):
            program = await self._programs.driving(run_id)
            if program is None:
                return
            self._driving.take(run_id, program)
        self._driving.look(run_id)

    async def wait(self, run_id: str, *, until: Until = "finished", timeout: float | None = None) -> Outcome:
        """Wait for a run; one that a child run carries on is followed there.

        Args:
            run_id: The run.
            until: ``finished``: until it has ended; ``waiting``: also while nothing moves it by itself; ``asked``: also
                while somebody's answer moves it, whatever time the answer has.
            timeout: Seconds; after them its present status is answered.

        Raises:
            NotFound: There is no such run.
        """
        self._check_usable()
        check_name("run_id", run_id)
        ends = None if timeout is None else self._holder.clock.monotonic() + timeout
        look = await self._rest(run_id, until, ends)
        while look is not None and look.run.continued_by is not None:
            run_id = look.run.continued_by
            look = await self._rest(run_id, until, ends)
        if look is not None and look.run.finished_at is not None:
            return Outcome.of_ended(look.run, self._holder.reader.history)
        return await self._read(self._outcome, run_id)

    # --- inside -------------------------------------------------------------------------------------------------

    async def _rest(self, run_id: str, until: Until, ends: float | None) -> Look | None:
        """Wait until one run has ended or rests, and answer how it was seen last."""
        look: Look | None = None
        with self._driving.watch.of(run_id) as changed:
            while not self._closed:
                changed.clear()
                self._programs.check_store()
                # While a worker of it is at work here, there is nothing to read that the worker does not tell.
                if not self._driving.driving(run_id):
                    look = self._driving.peek(run_id)
                    if look.run.finished_at is not None or (until != "finished" and not self._driving.moves(look)):
                        break
                    if until == "asked" and self._driving.asked(look):
                        break
                try:
                    async with asyncio.timeout(None if ends is None else ends - self._holder.clock.monotonic()):
                        await changed.wait()
                except TimeoutError:
                    break
        return look

    async def _prepare(
        self,
        workflow: Workflow[Any] | str,
        input: object,
        run_id: str,
        surroundings: Surroundings,
        typed: Typed,
        session: str | None,
    ) -> tuple[Starting, Prepared]:
        """Check a start: where it is an object that is at hand here, else wherever the code is asked."""
        agents = self._launcher.agents(run_id)
        if isinstance(workflow, str):
            reference, project = typed_reference(workflow, surroundings.cwd, surroundings.project)
            wanted = surroundings.wanted(reference, project, run_id)
            starting = Starting(wanted=wanted, run_id=run_id, agents=agents, session=session, typed=typed)
            return starting, await self._code.prepare(starting, input)
        if self._catalog is None:
            raise WorkflowNotFound(f"object:{workflow.name}", "here only what is named can be started")
        driven = self._catalog.of_object(workflow)
        wanted = surroundings.wanted(driven.reference, driven.project, run_id)
        starting = Starting(wanted=wanted, run_id=run_id, agents=agents, session=session)
        return starting, prepare(driven, starting, input, typed=True)

    def _outcome(self, run_id: str) -> Outcome:
        status = self._holder.reader.status(run_id)
        return Outcome(run_id, status.status, status.error, self._holder.reader.history)
