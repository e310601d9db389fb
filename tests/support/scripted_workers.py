"""Workers that a test plays itself: a launcher over a real store, and children without a process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from attrs import evolve

from runwright.engine.commands.client import Caller, ClientCommand
from runwright.engine.commands.worker import ExitWorker, WorkerTransition
from runwright.engine.embedded.holder import Holder
from runwright.engine.execution.port import RunState
from runwright.engine.graph.definition import Definition
from runwright.engine.host.launcher import WorkerLauncher
from runwright.engine.host.provisioning import Provisioning
from runwright.engine.results import Applied
from runwright.engine.wire.errors import WireError
from runwright.engine.worker.envelope import Launch
from runwright.engine.worker.messages import Answer, Command, Exiting, FromChild, FromHost, SayReady, Stop, Transact
from runwright.eventstore.events.event import ProcessIdentity
from runwright.projections.control.queue import QUEUE, QueueRow
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.workers import WORKERS, WorkerRow
from runwright.projections.sql_rows import SqlRows
from support.stage import PROCESS, queue_command


class ScriptedChild:
    """A child whose part a test plays.

    Attributes:
        told: What the host said.
        launch: The envelope, once it came.
        dies: Whether it can be ended.
        ends: How often its end was asked for.
    """

    def __init__(self, number: int) -> None:
        self.identity: ProcessIdentity = evolve(PROCESS, pid=number)
        self.status: int | None = None
        self.told: asyncio.Queue[FromHost] = asyncio.Queue()
        self.dies = True
        self.ends = 0
        self.launch: Launch | None = None
        self.gone = asyncio.Event()
        self._said: asyncio.Queue[FromChild | WireError | None] = asyncio.Queue()
        self._id = 0

    # --- the host's side ----------------------------------------------------------------------------------------

    async def send(self, message: FromHost) -> None:
        """Take what the host says."""
        if self.gone.is_set():
            raise BrokenPipeError
        self.told.put_nowait(message)

    async def receive(self) -> FromChild | None:
        """Hand over what the test says."""
        said = await self._said.get()
        if isinstance(said, WireError):
            raise said
        return said

    async def end(self, grace: float) -> bool:
        """End, where it dies."""
        del grace
        self.ends += 1
        if self.dies:
            self.exit(-15)
        return self.dies

    async def exited(self) -> int | None:
        """Wait for the exit."""
        await self.gone.wait()
        return self.status

    async def ended(self) -> None:
        """Wait for the end."""
        await self.gone.wait()

    # --- the test's side ----------------------------------------------------------------------------------------

    def exit(self, status: int) -> None:
        """Exit, unless it has exited."""
        if not self.gone.is_set():
            self.status = status
            self.gone.set()
            self._said.put_nowait(None)

    def say(self, message: FromChild | WireError) -> None:
        """Say something."""
        self._said.put_nowait(message)

    def head(self, **other: object) -> dict[str, object]:
        """What stands in each message of it."""
        self._id += 1
        launch = self.launch
        assert launch is not None
        head = {"run_id": launch.run_id, "generation": launch.generation, "worker": launch.worker, "id": self._id}
        return {**head, **other}

    async def begin(self) -> RunState:
        """Take the envelope, say ready, and answer the command."""
        launch = await self.told.get()
        assert isinstance(launch, Launch)
        self.launch = launch
        self.say(SayReady(**self.head()))  # type: ignore[arg-type]
        command = await self.told.get()
        assert isinstance(command, Command)
        return command.state

    async def transact(self, *transitions: WorkerTransition) -> Answer:
        """Ask for transitions and hear the answer."""
        self.say(Transact(**self.head(), transitions=transitions))  # type: ignore[arg-type]
        answer = await self.told.get()
        assert isinstance(answer, Answer), answer
        return answer

    async def applied(self, *transitions: WorkerTransition) -> None:
        """Ask for transitions, all of which are carried out."""
        answer = await self.transact(*transitions)
        assert [each.kind for each in answer.results] == ["applied"] * len(transitions), answer

    async def leave(self, *transitions: WorkerTransition, outcome: str) -> None:
        """Say how it ends, and exit."""
        await self.applied(*transitions, ExitWorker(outcome=outcome))  # type: ignore[arg-type]
        self.say(Exiting(**self.head(), outcome=outcome))  # type: ignore[arg-type]
        self.exit(0)

    async def stop(self) -> None:
        """Be told to stop."""
        assert isinstance(await self.told.get(), Stop)


Script = Callable[[ScriptedChild], Awaitable[object]]


class Scene:
    """A launcher over a real store, whose workers follow scripts.

    Attributes:
        holder: The open store.
        launcher: The launcher.
        children: The children that were asked for, in order.
    """

    def __init__(self, holder: Holder, provisioning: Provisioning | None = None) -> None:
        self.holder = holder
        self.children: list[ScriptedChild] = []
        self._scripts: list[Script] = []
        self._playing: list[asyncio.Task[object]] = []
        provisioning = provisioning or Provisioning(lambda _: {}, {})
        self.launcher = WorkerLauncher(holder, self, provisioning, user=None)

    async def spawn(self, interpreter: str | None) -> ScriptedChild:
        """Answer a child that follows the next script."""
        del interpreter
        child = ScriptedChild(1_000_000 + len(self.children))
        self.children.append(child)
        self._playing.append(asyncio.ensure_future(self._scripts.pop(0)(child)))
        return child

    def ask(self, command: ClientCommand) -> None:
        """Have a client's command carried out."""
        caller = Caller(client="cli", key=f"key-{self.holder.log.head().position}", actor="client:cli")
        assert isinstance(self.holder.transitions.command(caller, command).result(10), Applied)

    def queue(self, definition: Definition, run_id: str = "run-1") -> None:
        """Queue a run."""
        self.ask(queue_command(definition, run_id))
        self.launcher._taken.add(run_id)

    async def launch(self, *scripts: Script, run_id: str = "run-1") -> list[str | None]:
        """Launch a run once for each script; answers the outcomes, and raises what a script raised."""
        outcomes: list[str | None] = []
        for script in scripts:
            self._scripts.append(script)
            outcomes.append(await self.launcher.launch(run_id, None))
        await self.played()
        return outcomes

    async def played(self) -> None:
        """Wait for the scripts."""
        await asyncio.gather(*self._playing)

    def begin(self, script: Script, run_id: str = "run-1") -> "asyncio.Task[str | None]":
        """Launch a run in the background."""
        self._scripts.append(script)
        return asyncio.ensure_future(self.launcher.launch(run_id, None))

    def run(self, run_id: str = "run-1") -> RunRow:
        """A run's row."""
        with self.holder.log.snapshot() as snapshot:
            row = SqlRows(snapshot.connection).get(RUNS, run_id)
        assert row is not None
        return row

    def stands(self, run_id: str = "run-1") -> tuple[str, str | None, bool]:
        """Queue state, park reason, and whether it is eligible."""
        with self.holder.log.snapshot() as snapshot:
            row: QueueRow | None = SqlRows(snapshot.connection).get(QUEUE, run_id)
        assert row is not None
        return row.state, row.reason, row.eligible

    def detail(self, run_id: str = "run-1") -> str | None:
        """What is said of why the run is parked."""
        with self.holder.log.snapshot() as snapshot:
            row: QueueRow | None = SqlRows(snapshot.connection).get(QUEUE, run_id)
        assert row is not None
        return row.detail

    async def settled(self) -> None:
        """Wait until workers that could not be ended are recorded as ended."""
        await self.launcher._endings.late()

    def workers(self) -> Sequence[WorkerRow]:
        """Every worker."""
        with self.holder.log.snapshot() as snapshot:
            found: list[WorkerRow] = SqlRows(snapshot.connection).find(WORKERS)
        return found


@asynccontextmanager
async def scene(home: Path, provisioning: Provisioning | None = None) -> AsyncIterator[Scene]:
    """A launcher over a new store."""
    holder = await asyncio.to_thread(Holder.open, home)
    try:
        yield Scene(holder, provisioning)
    finally:
        await asyncio.to_thread(holder.close)
