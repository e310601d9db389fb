"""A store of a test's own, a virtual clock, stand-ins, and as many lives of the process as there are crashes."""

import asyncio
import logging
import os
import random
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from attrs import evolve, field, frozen

from runwright.engine.authoring.workflow import Workflow
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.embedded.catalog import Catalog
from runwright.engine.embedded.code import assistants_of, executors_of
from runwright.engine.embedded.holder import Holder
from runwright.engine.graph.definition import Definition
from runwright.engine.graph.program import Program
from runwright.engine.sources.loaded import Loaded
from runwright.engine.sources.locate import typed_reference
from runwright.engine.testing.agents import StandInAgents
from runwright.engine.testing.crashing import Boundary, CrashingLog
from runwright.engine.testing.effects import World
from runwright.engine.testing.errors import StandsStill
from runwright.engine.testing.faults import Faults
from runwright.engine.testing.scripts import EffectAnswers, Scripts
from runwright.engine.testing.virtual_time import VirtualClock, run_virtually
from runwright.engine.transitions.leases import Leases
from runwright.eventstore.values import Json
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT

R = TypeVar("R")

#: Why an effect is uncertain after a crash, and nothing but the crash made it so.
_CRASH = frozenset({"worker_ended", "orphaned", "crashed"})


@frozen(kw_only=True)
class Given:
    """What a test gives.

    Attributes:
        workflow: The workflow, or how it is named.
        input: Its input.
        agents: What agent and choose nodes are answered.
        effects: What action and shell nodes come to.
        decisions: What people decide and answer.
        cwd: The folder that the run is started in.
        session: Whether a session starts it, and answers its agents.
    """

    workflow: Workflow[Any] | str
    input: Any
    agents: Mapping[Any, EffectAnswers] = field(factory=dict)
    effects: Mapping[Any, EffectAnswers] = field(factory=dict)
    decisions: Mapping[Any, EffectAnswers] = field(factory=dict)
    cwd: Path
    session: bool = False


class Staging(ABC, Generic[R]):
    """What happens in one store, with as many lives of its process as it takes; a subclass says what happens.

    Args:
        given: What the test gives.
        start: When it begins on the virtual clock (UTC microseconds); by default now.
    """

    def __init__(self, given: Given, start: int | None = None) -> None:
        self.given = given
        self.clock = VirtualClock(start)
        self.scripts = (
            Scripts("agents", given.agents),
            Scripts("effects", given.effects),
            Scripts("decisions", given.decisions),
        )
        agents, effects, _ = self.scripts
        self.faults = Faults(lambda path: self.definition.nodes[path].kind, lambda: self._over.set())
        self.agents = StandInAgents(agents.of, self.faults)
        self.world = World(effects.of, self.faults)
        self.definition: Definition
        self._program: Program
        self._names: frozenset[str] = frozenset()
        self._over = asyncio.Event()
        self._stands_still = False
        self.lives = 0
        #: Whether the run crashed where it was told to.
        self.crashed = False

    def play(self, boundary: Boundary | None = None) -> R:
        """Play it through, with a crash at a boundary if there is such a commit.

        Raises:
            TestingError: The test and the workflow do not fit.
        """
        home = Path(tempfile.mkdtemp(prefix="runwright-", dir=_memory()))
        try:
            return run_virtually(self.clock, lambda: self._play(home / "state", boundary), self._stand_still)
        finally:
            shutil.rmtree(home, ignore_errors=True)

    async def _play(self, home: Path, boundary: Boundary | None) -> R:
        outcome = await self._live(home, boundary)
        if outcome is None:
            self.crashed = True
            self.agents.crashed()
            outcome = await self._live(home, None)
        assert outcome is not None, "it crashes once"
        return outcome

    async def _live(self, home: Path, boundary: Boundary | None) -> R | None:
        """One life of the process; ``None`` where it crashed."""
        self.lives += 1
        self._over = asyncio.Event()
        engine, log = self._open(home)
        log.arm(boundary, self._over.set)
        logger = logging.getLogger("runwright.engine")

        def alive(_: logging.LogRecord) -> bool:
            return not log.crashed  # a process that is gone says nothing

        logger.addFilter(alive)
        work = asyncio.ensure_future(self.drive(engine))
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({work, over}, return_when=asyncio.FIRST_COMPLETED)
            if self.faults.first is not None:
                raise self.faults.first
            if self._stands_still:
                raise StandsStill(await self._standing(engine))
            return None if log.crashed else await work
        finally:
            for task in (work, over):
                task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await task
            await engine.close(grace=0)
            logger.removeFilter(alive)

    def _open(self, home: Path) -> tuple[AsyncEngine, CrashingLog]:
        given = self.given
        # The same chance in every play: what a run comes to is compared, and its ID may be part of it.
        chance = random.Random(f"runwright/{self.lives}").randbytes  # noqa: S311 (a store that is thrown away)
        catalog = Catalog(adapt=self.adapt)
        if isinstance(given.workflow, str):
            catalog.of_reference(*typed_reference(given.workflow, given.cwd))
        else:
            catalog.of_object(given.workflow)
        opened = CrashingLog.open(home, layout=LAYOUT, control=ControlRows(), clock=self.clock.now, random=chance)
        log = cast(CrashingLog, opened)
        holder = Holder.over(log, clock=self.clock, random=chance)
        # Nobody else ever wants a run of this store: no lease runs out, in virtual seconds or in real ones.
        holder.transitions.leases = Leases(lambda: 0.0)
        try:
            agents = dict.fromkeys(self._names, self.agents)
            return AsyncEngine.in_process(holder, catalog=catalog, agents=agents), log
        except BaseException:
            holder.close()
            raise

    def adapt(self, loaded: Loaded) -> Loaded:
        """Put the stand-ins where the program's effects are."""
        program = loaded.program
        for each in self.scripts:
            each.fit(program)
        self.definition = program.definition
        self._program = program
        self._names = frozenset(executors_of(program.definition).values())
        return evolve(loaded, program=evolve(program, stand_in=self.world.stand_in))

    @property
    def in_session(self) -> bool:
        """Whether a session starts the run: the test says so, or a node of it asks for one."""
        return self.given.session or bool(assistants_of(self.definition))

    def dump(self, path: str, value: object) -> Json:
        """An answer to a node as JSON; what is none of the node's type stays as it is, and is refused."""
        shape = self._program.nodes[path].shape
        return shape.dump(value) if shape.owns(value) else cast(Json, value)

    @abstractmethod
    async def drive(self, engine: AsyncEngine) -> R:
        """Do what there is to do in one life; after a crash, all of it is asked for again."""
        ...

    async def resolve(self, engine: AsyncEngine, run_id: str) -> bool:
        """Look into the world whether an effect happened that the crash left uncertain, as an operator would."""
        for effect in await engine.effects(run_id, state="ambiguous"):
            if effect.cause not in _CRASH:
                continue
            key = (run_id, effect.path, effect.visit)
            if key in self.world.results:
                result = self.world.results[key]
                await engine.resolve(effect.effect, "done", result=result, reason="it happened")
            else:
                await engine.resolve(effect.effect, "not_done", reason="it did not happen")
            return True
        return False

    def _stand_still(self) -> None:
        """Nothing that this process waits for will come by itself."""
        self._stands_still = True
        self._over.set()

    async def _standing(self, engine: AsyncEngine) -> str | None:
        """The node that the run which was started last stands at."""
        runs = (await engine.query("runs", sort=["-created_at"], limit=1)).items
        return None if not runs or runs[0]["node"] is None else str(runs[0]["node"])


def _memory() -> str | None:
    """Where files are kept in memory, where the system has such a place."""
    shared = "/dev/shm"  # noqa: S108 (the folder below it is made by mkdtemp, for its owner alone)
    return shared if Path(shared).is_dir() and os.access(shared, os.W_OK) else None
