"""The `implement` example through a failure, a restart, a pause, a cancel and a restart, with a crash anywhere."""

import asyncio
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from runwright import Surroundings, Workflow
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.rundata import Found, RunData
from runwright.engine.sources.loaded import Loaded
from runwright.engine.testing.staging import Given, Staging
from runwright.eventstore.values import Json
from runwright.projections.control.registry import CONTROL
from runwright.projections.sql_rows import SqlRows

#: Effects that become manual, so that a crash in one of them needs somebody who looks.
MANUAL = ("change", "docs/prepare")
#: How long the documentation waits before its page is written (seconds).
PAUSE = 3600.0


@frozen(kw_only=True)
class Ended:
    """How one run of the story ended.

    Attributes:
        outcome: Its outcome.
        code: Its error code.
        path: What it started, in order.
        output: Its output, as its typed reader answers it.
        readable: Whether every typed reader answers what belongs there.
        effects: The state of each of its effects, by path.
    """

    outcome: str
    code: str | None
    path: tuple[str, ...]
    output: Json
    readable: bool
    effects: tuple[tuple[str, str], ...]


@frozen(kw_only=True)
class Told:
    """What the story came to.

    Attributes:
        runs: The run that failed, the one that was paused and cancelled, the one that went through.
        identities: How many effects there were, and how many effect IDs.
        launched_after: Workers launched in the day after the last end.
        verified: Whether the chain holds.
    """

    runs: tuple[Ended, ...]
    identities: tuple[int, int]
    launched_after: int
    verified: bool


class Story(Staging[Told]):
    """The story, told again from its beginning after a crash: every command has a key, and is adopted.

    Args:
        implement: The workflow.
        folder: Where it is started, and where the file is that stands in the way of the first run.
        start: When it begins (UTC microseconds).
    """

    def __init__(self, implement: Workflow[Any], folder: Path, start: int) -> None:
        commit = {"file": "docs/x.md", "commit": "c2"}
        workspace = {"path": "/copy", "commit": "c1"}
        effects = {"prepare": _of(workspace), "docs/prepare": _of(workspace)}
        effects |= {"change": _of(commit), "docs/write": _of(commit)}
        value = implement.input(repository=".", folder="copies", title="X", pause=PAUSE, blocker="blocker")
        super().__init__(Given(workflow=implement, input=value, effects=effects, cwd=folder), start)
        self.implement = implement
        (folder / "blocker").touch()

    def adapt(self, loaded: Loaded) -> Loaded:
        """Make some of the effects manual, too."""
        staged = super().adapt(loaded)
        definition = staged.program.definition
        nodes = {
            path: evolve(node, contract="manual") if path in MANUAL else node for path, node in definition.nodes.items()
        }
        self.definition = evolve(definition, nodes=nodes)
        return evolve(staged, program=evolve(staged.program, definition=self.definition))

    async def drive(self, engine: AsyncEngine) -> Told:
        """Tell the story."""
        given = self.given
        surroundings = Surroundings(cwd=given.cwd)
        first = await engine.start(self.implement, given.input, key="first", surroundings=surroundings)
        await self._still(engine, first)
        (given.cwd / "blocker").unlink(missing_ok=True)

        second = await engine.restart(first, key="second")
        await engine.drive(second)
        await self._at(engine, second, "docs/breathe")
        if not (await engine.status(second)).ended:
            await engine.pause(second)
            await asyncio.sleep(2 * PAUSE)
            assert await self._place(engine, second) == "docs/breathe", "a paused run goes nowhere, whatever falls due"
        await engine.cancel(second, reason="enough")

        third = await engine.restart(second, key="third")
        await engine.drive(third)
        await self._still(engine, third)
        launched = len((await engine.query("workers", limit=500)).items)
        await asyncio.sleep(24 * 3600)
        return await self._told(engine, (first, second, third), launched)

    async def _still(self, engine: AsyncEngine, run_id: str) -> None:
        await engine.wait(run_id, until="waiting")
        while self.crashed and await self.resolve(engine, run_id):
            await engine.wait(run_id, until="waiting")

    async def _at(self, engine: AsyncEngine, run_id: str, path: str) -> None:
        while await self._place(engine, run_id) != path:
            if self.crashed:
                await self.resolve(engine, run_id)
            await asyncio.sleep(0.05)

    async def _place(self, engine: AsyncEngine, run_id: str) -> str | None:
        (run,) = (await engine.query("runs", where=[f"run_id={run_id}"])).items
        return None if run["node"] is None else str(run["node"])

    async def _told(self, engine: AsyncEngine, runs: tuple[str, ...], launched: int) -> Told:
        effects = await engine.effects()
        return Told(
            runs=tuple([await self._ended(engine, run_id) for run_id in runs]),
            identities=(len({(each.run_id, each.path, each.visit) for each in effects}), len(effects)),
            launched_after=len((await engine.query("workers", limit=500)).items) - launched,
            verified=(await engine.verify(deep=True)).ok,
        )

    async def _ended(self, engine: AsyncEngine, run_id: str) -> Ended:
        log = engine.reader.log
        with log.snapshot() as snapshot:
            data = RunData(SqlRows(snapshot.connection), log.event)
            facts, output = data.read_terminal_facts(run_id), data.read_final_output(run_id)
            error, given = data.read_run_error(run_id), data.read_run_input(run_id)
        assert facts is not None, "it has ended"
        return Ended(
            outcome=facts.outcome,
            code=facts.code,
            path=engine.reader.history(run_id).path,
            output=output.value if isinstance(output, Found) else None,
            readable=isinstance(given, Found) and isinstance(output if facts.outcome == "completed" else error, Found),
            effects=tuple(sorted((each.path, each.state) for each in await engine.effects(run_id))),
        )


def most(story: Story, paths: tuple[str, ...]) -> int:
    """How often the effect of a run that happened most often did."""
    return max((times for (_, path, _), times in story.world.happened.items() if path in paths), default=0)


def _of(value: dict[str, str]) -> Any:
    """A stand-in that answers with the node's own type, whatever class the loaded file made of it."""

    def stand_in(ctx: Any, *request: Any) -> Any:
        return value

    return stand_in


assert {each.name for each in CONTROL} >= {"runs", "workers"}, "what the story asks for"
