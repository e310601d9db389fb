"""One run of a workflow in a test: a store of its own, a virtual clock, stand-ins, and as many lives as crashes."""

import asyncio
import logging
import os
import random
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from attrs import evolve, field, frozen

from runwright.engine.authoring.workflow import Workflow
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.embedded.catalog import Catalog
from runwright.engine.embedded.driving import CAPACITY
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.outcome import Outcome
from runwright.engine.embedded.preflight import DEFAULT_AGENT, Surroundings
from runwright.engine.graph.definition import Definition
from runwright.engine.reading.history import History
from runwright.engine.sources.loaded import Loaded
from runwright.engine.sources.locate import typed_reference
from runwright.engine.testing.agents import StandInAgents
from runwright.engine.testing.crashing import Boundary, CrashingLog
from runwright.engine.testing.effects import World
from runwright.engine.testing.errors import StandInMissing
from runwright.engine.testing.scripts import EffectAnswers, NoMore, Scripts
from runwright.engine.testing.virtual_time import VirtualClock, run_virtually
from runwright.engine.transitions.leases import Leases
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT

#: The key of the one start, so that a repeat after a crash adopts it.
_KEY = "test"
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
    """

    workflow: Workflow[Any] | str
    input: Any
    agents: Mapping[Any, EffectAnswers] = field(factory=dict)
    effects: Mapping[Any, EffectAnswers] = field(factory=dict)
    decisions: Mapping[Any, EffectAnswers] = field(factory=dict)
    cwd: Path


class Staged:
    """One run, from its start to where nothing but somebody's command can move it.

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
        self._agents = StandInAgents(agents.of, self._miss)
        self.world = World(effects.of, self._miss)
        self.definition: Definition
        self._names: frozenset[str] = frozenset()
        self._missing: StandInMissing | None = None
        self._over = asyncio.Event()
        self._lives = 0
        #: What a run's checkpoint was answered.
        self._answers: dict[str, tuple[str, object]] = {}
        #: Whether the run crashed where it was told to.
        self.crashed = False

    def play(self, boundary: Boundary | None = None) -> Outcome:
        """Play the run through, with a crash at a boundary if there is such a commit.

        Raises:
            TestingError: The test and the workflow do not fit.
        """
        home = Path(tempfile.mkdtemp(prefix="runwright-", dir=_memory()))
        try:
            return run_virtually(self.clock, lambda: self._play(home / "state", boundary))
        finally:
            shutil.rmtree(home, ignore_errors=True)

    async def _play(self, home: Path, boundary: Boundary | None) -> Outcome:
        outcome = await self._live(home, boundary)
        if outcome is None:
            self.crashed = True
            self._agents.crashed()
            outcome = await self._live(home, None)
        assert outcome is not None, "a run crashes once"
        return outcome

    async def _live(self, home: Path, boundary: Boundary | None) -> Outcome | None:
        """One life of the process; ``None`` where it crashed."""
        self._lives += 1
        self._over = asyncio.Event()
        engine, log = self._open(home)
        log.arm(boundary, self._over.set)
        logger = logging.getLogger("runwright.engine")

        def alive(_: logging.LogRecord) -> bool:
            return not log.crashed  # a process that is gone says nothing

        logger.addFilter(alive)
        work = asyncio.ensure_future(self._drive(engine))
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({work, over}, return_when=asyncio.FIRST_COMPLETED)
            if self._missing is not None:
                raise self._missing
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
        chance = random.Random(f"runwright/{self._lives}").randbytes  # noqa: S311 (a store that is thrown away)
        catalog = Catalog(adapt=self._adapt)
        if isinstance(given.workflow, str):
            catalog.of_reference(*typed_reference(given.workflow, given.cwd))
        else:
            catalog.of_object(given.workflow)
        opened = CrashingLog.open(home, layout=LAYOUT, control=ControlRows(), clock=self.clock.now, random=chance)
        log = cast(CrashingLog, opened)
        holder = Holder.over(log, clock=self.clock, random=chance)
        # A lease is renewed every few real seconds, so it must not run out in virtual ones.
        holder.transitions.leases = Leases(time.monotonic)
        try:
            agents = dict.fromkeys(self._names, self._agents)
            return AsyncEngine(holder, catalog=catalog, agents=agents, capacity=CAPACITY, client="engine"), log
        except BaseException:
            holder.close()
            raise

    def _adapt(self, loaded: Loaded) -> Loaded:
        """Put the stand-ins where the program's effects are."""
        program = loaded.program
        for each in self.scripts:
            each.fit(program)
        nodes = program.definition.nodes.values()
        self.definition = program.definition
        self._names = frozenset(node.by or DEFAULT_AGENT for node in nodes if node.kind in ("agent", "choose"))
        return evolve(loaded, program=evolve(program, stand_in=self.world.stand_in))

    async def _drive(self, engine: AsyncEngine) -> Outcome:
        given = self.given
        run_id = await engine.start(given.workflow, given.input, key=_KEY, surroundings=Surroundings(cwd=given.cwd))
        runs = [run_id]
        while True:
            if (answer := self._answers.get(runs[-1])) is None:
                outcome = await engine.wait(runs[-1], until="waiting")
                if self.crashed and await self._resolve(engine, runs[-1]):
                    continue
                answer = await self._answer(engine, runs[-1])
            if answer is None:
                break
            request, value = answer
            answered = await engine.answer(request, value, key=f"answer {request}")
            if answered.run_id != runs[-1]:
                runs.append(answered.run_id)
                await engine.drive(answered.run_id)
        # Read now: the store is gone when the test asks.
        history = _joined([engine.reader.history(each) for each in runs])
        return Outcome(runs[-1], outcome.status, outcome.error, lambda _: history)

    async def _answer(self, engine: AsyncEngine, run_id: str) -> tuple[str, object] | None:
        """The answer to what a person is asked; it is remembered, so that it can be given again after a crash."""
        for request in await engine.requests(run_id):
            script = self.scripts[2].of(request.path)
            if script is None:
                self._miss(request.path, "asks a person, and nobody answers")
                continue
            script.asked += 1
            try:
                value = script.function(request) if script.function else script.answer(request.request_id)
            except NoMore:
                self._miss(request.path, f"asked {script.asked} times, and has fewer answers")
                continue
            self._answers[run_id] = request.request_id, value
            return self._answers[run_id]
        return None

    async def _resolve(self, engine: AsyncEngine, run_id: str) -> bool:
        """Look into the world whether an effect happened that the crash left uncertain, as an operator would."""
        for effect in await engine.effects(run_id, state="ambiguous"):
            if effect.cause not in _CRASH:
                continue
            key = (effect.path, effect.visit)
            if key in self.world.results:
                result = self.world.results[key]
                await engine.resolve(effect.effect, "done", result=result, reason="it happened")
            else:
                await engine.resolve(effect.effect, "not_done", reason="it did not happen")
            return True
        return False

    def _miss(self, path: str, said: str) -> None:
        if self._missing is None:
            self._missing = StandInMissing(path, self.definition.nodes[path].kind, said)
        self._over.set()


def _memory() -> str | None:
    """Where files are kept in memory, where the system has such a place."""
    shared = "/dev/shm"  # noqa: S108 (the folder below it is made by mkdtemp, for its owner alone)
    return shared if Path(shared).is_dir() and os.access(shared, os.W_OK) else None


def _joined(histories: Sequence[History]) -> History:
    """What a chain of runs did, each carrying on what the one before it had reached."""
    prompts: dict[str, list[str]] = {}
    for each in histories:
        for path, asked in each.prompts.items():
            prompts.setdefault(path, []).extend(asked)
    return History(
        output=histories[-1].output,
        path=tuple(path for each in histories for path in each.path),
        outputs={path: output for each in histories for path, output in each.outputs.items()},
        prompts=prompts,
    )
