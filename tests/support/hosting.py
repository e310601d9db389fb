"""A host's side of a worker's channel in a few lines: the scripted port answers what the worker asks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from attrs import evolve

from runwright.engine.commands.worker import WorkerTransition
from runwright.engine.execution.port import RunState
from runwright.engine.host.child import Child
from runwright.engine.host.children import ForkServers
from runwright.engine.process_table import every
from runwright.engine.sources.load import load
from runwright.engine.worker.envelope import Launch
from runwright.engine.worker.messages import Answer, Command, Exiting, FromChild, Renew, SayReady, Transact
from runwright.engine.worker.transitions import as_data
from support.scripted_port import ScriptedPort

#: The ID of every run here, as the scripted port has it.
RUN = "run"


@asynccontextmanager
async def fork_servers(**how: Any) -> AsyncIterator[ForkServers]:
    """Fork servers whose processes do not outlive the test."""
    servers = ForkServers(**{"idle": 1, **how})
    try:
        yield servers
    finally:
        await servers.close()


class Hosted:
    """One run of one workflow file, and whoever carries it.

    Attributes:
        port: What the transitions say.
        launch: The envelope.
        messages: Everything that workers sent.
        exiting: The last words of the last one.
    """

    def __init__(self, folder: Path, source: str, **changes: Any) -> None:
        self.folder = folder
        (folder / "flow.py").write_text(source)
        loaded = load("flow.py", folder)
        self.port = ScriptedPort(loaded.program, folder)
        self.launch = evolve(
            Launch(
                run_id=RUN,
                generation=1,
                owner="host:worker",
                token="ab" * 32,
                workflow=loaded.program.definition.workflow,
                reference="flow.py",
                project=folder,
                cwd=folder,
                scratch=folder,
                output=folder / "output.log",
                sources=loaded.sources.files,
                definition=loaded.program.definition.digest,
                progress=0,
                began=False,
            ),
            **changes,
        )
        self.messages: list[FromChild] = []
        self.exiting: Exiting | None = None
        self._answered: dict[int, Answer] = {}

    @property
    def state(self) -> RunState:
        """The run as the next worker finds it."""
        return self.port.state({})

    @property
    def transitions(self) -> list[WorkerTransition]:
        """Everything that was asked, in order."""
        return [each for told in self.port.lists for each in told]

    @property
    def printed(self) -> str:
        """The run's output log."""
        return self.launch.output.read_text() if self.launch.output.exists() else ""

    async def serve(self, child: Child) -> None:
        """Launch a worker, and answer it until its channel closes."""
        await child.send(self.launch)
        async for message in child:
            await self.answer(child, message)

    async def until(self, child: Child, kind: type[FromChild]) -> FromChild:
        """Answer until a message of a kind comes, which is not answered."""
        while True:
            message = await child.receive()
            assert message is not None, f"it ended before it said {kind.__name__}"
            if isinstance(message, kind):
                return message
            await self.answer(child, message)

    async def answer(self, child: Child, message: FromChild) -> None:
        """Answer one message."""
        self.messages.append(message)
        match message:
            case SayReady():
                await child.send(Command(state=self.state))
            case Transact():
                results = await self.port.transact(message.transitions)
                await child.send(Answer(id=message.id, results=as_data(results)))
            case Exiting():
                self.exiting = message
            case Renew():
                pass
            case _:
                raise AssertionError(f"a worker never says {type(message).__name__}")


async def carried(servers: ForkServers, hosted: Hosted) -> Child:
    """Carry a run to the end of one worker; nothing is left of it."""
    child = await servers.spawn()
    try:
        async with asyncio.timeout(60):
            await hosted.serve(child)
            await child.exited()
    finally:
        assert await child.end()
    return child


def marked_in(folder: Path) -> list[int]:
    """The living processes whose IDs a workflow's code left as files in a folder."""
    wanted = {int(path.name) for path in folder.iterdir() if path.name.isdigit()}
    return [each.pid for each in every() if each.pid in wanted and not each.ended]
