"""Finding the program of a saved run, and judging whether it may carry the run on."""

import asyncio
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

from runwright.engine.agents.agent import Agent
from runwright.engine.commands.host import ParkIdleRun
from runwright.engine.embedded.catalog import Catalog, Driven
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.preflight import check_agents
from runwright.engine.errors import AgentMissing, NotFound, PreflightError, RecoveryRequiredError, SourceChanged
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.reading.moment import moment_of
from runwright.engine.results import RecoveryRequired
from runwright.engine.sources.identity import SourceSet
from runwright.eventstore.errors import StoreClosed
from runwright.eventstore.values import Json
from runwright.projections.control.effects import EFFECTS, EffectRow
from runwright.projections.control.requests import REQUESTS, RequestRow
from runwright.projections.control.runs import RunRow

T = TypeVar("T")


class Programs:
    """The programs of saved runs.

    Args:
        holder: The open store.
        catalog: What was handed in or started here.
        agents: The executors by name.
        bridge: Brings the writer's answers to the loop.
    """

    def __init__(self, holder: Holder, catalog: Catalog, agents: Mapping[str, Agent], bridge: LoopBridge) -> None:
        self._holder = holder
        self._catalog = catalog
        self._agents = agents
        self._bridge = bridge
        # Loading runs the user's files and moves what this process has imported: one at a time.
        self._loading = asyncio.Lock()

    def run(self, run_id: str) -> RunRow:
        """A run's row.

        Raises:
            NotFound: There is no such run.
        """
        with moment_of(self._holder.log) as moment:
            return moment.run(run_id)

    def effect(self, effect_id: str) -> tuple[EffectRow, RunRow]:
        """An effect and its run.

        Raises:
            NotFound: There is no such effect.
        """
        with moment_of(self._holder.log) as moment:
            row = moment.rows.get(EFFECTS, effect_id)
            if row is None:
                raise NotFound("effect", effect_id)
            return row, moment.run(row.run_id)

    def request(self, request_id: str) -> tuple[RequestRow, RunRow]:
        """A request and its run.

        Raises:
            NotFound: There is no such request.
        """
        with moment_of(self._holder.log) as moment:
            row = moment.rows.get(REQUESTS, request_id)
            if row is None:
                raise NotFound("request", request_id)
            return row, moment.run(row.run_id)

    async def load(self, reference: str, project: Path) -> Driven:
        """Load a program by its name, file or import path.

        Raises:
            PreflightError: There is none, or it does not hold.
        """
        async with self._loading:
            return await asyncio.to_thread(self._catalog.of_reference, reference, project)

    async def of(self, run: RunRow) -> Driven:
        """The program that a run names: handed in, started here, or loaded as its files stand now.

        Raises:
            PreflightError: A run that never started has no program that can be loaded.
            RecoveryRequiredError: A run that has started has none: it is parked with ``environment_missing``, or
                its files have changed.
        """
        try:
            return await self.find(run)
        except PreflightError as error:
            if run.started_at is None:
                raise
            saved = self._holder.reader.sources(run.sources)
            changed = () if saved is None else SourceSet(saved).changed(_project(run))
            if changed:
                self._source_changed(run, changed)
            await self._environment_missing(run, error.message)

    async def find(self, run: RunRow) -> Driven:
        """The same for a run that nothing may be written about.

        Raises:
            PreflightError: It cannot be loaded.
        """
        known = self._catalog.handed(run) or self._catalog.started_here(run)
        return known or await self.load(run.reference, _project(run))

    async def afresh(self, run: RunRow) -> Driven:
        """The program of a root that is about to be run again, exactly as it was.

        Raises:
            PreflightError: It cannot be loaded, it has changed, or an executor is missing.
        """
        driven = await self.find(run)
        if not driven.carries(run):
            raise SourceChanged(run.workflow, self._differs(run, driven))
        check_agents(driven.program.definition, self._agents)
        return driven

    async def check(self, run: RunRow, driven: Driven) -> None:
        """Check that a program may carry a run on as it is.

        Raises:
            RecoveryRequiredError: It has changed since the run was started, or an executor is missing.
        """
        if not driven.carries(run):
            self._source_changed(run, self._differs(run, driven))
        await self.check_agents(run, driven)

    async def check_agents(self, run: RunRow, driven: Driven) -> None:
        """Check that every executor that a program asks is here.

        Raises:
            AgentMissing: One is not, for a run that never started.
            RecoveryRequiredError: One is not; the run is parked with ``environment_missing``.
        """
        try:
            check_agents(driven.program.definition, self._agents)
        except AgentMissing as error:
            if run.started_at is None:
                raise
            await self._environment_missing(run, error.message)

    async def explained(self, run: RunRow, driven: Driven, answer: Awaitable[T]) -> T:
        """Hand an answer on; where the sources have changed, name the files."""
        try:
            return await answer
        except RecoveryRequiredError as error:
            if error.code != "source_changed":
                raise
            evidence: dict[str, Json] = {**error.evidence, "files": list(self._differs(run, driven))}
            raise RecoveryRequiredError(RecoveryRequired(error.code, evidence)) from None

    def check_store(self) -> None:
        """Refuse to go on with a store that was closed or that failed.

        Raises:
            StoreError: Why it cannot be used.
        """
        if self._holder.closed:
            raise StoreClosed
        if self._holder.log.failed is not None:
            raise self._holder.log.failed

    def difference(self, run: RunRow, driven: Driven) -> dict[str, Json]:
        """What shows that a program is not the one that a run stands on."""
        return {"run": run.run_id, "files": list(self._differs(run, driven))}

    def _differs(self, run: RunRow, driven: Driven) -> tuple[str, ...]:
        saved = self._holder.reader.sources(run.sources)
        return () if saved is None else SourceSet(saved).differs_from(driven.loaded.sources)

    def _source_changed(self, run: RunRow, files: tuple[str, ...]) -> NoReturn:
        evidence: dict[str, Json] = {"run": run.run_id, "files": list(files)}
        raise RecoveryRequiredError(RecoveryRequired("source_changed", evidence))

    async def _environment_missing(self, run: RunRow, detail: str) -> NoReturn:
        """Say so in the log as well: until somebody brings what is missing, the run does not move."""
        park = ParkIdleRun(run_id=run.run_id, reason="environment_missing", detail=detail)
        # Refused where something else holds the run; what is missing here is missing all the same.
        await self._bridge.wrap(self._holder.transitions.host(park))
        evidence: dict[str, Json] = {"run": run.run_id, "reference": run.reference, "detail": detail}
        raise RecoveryRequiredError(RecoveryRequired("environment_missing", evidence))


def _project(run: RunRow) -> Path:
    return Path(run.project) if run.project is not None else Path.cwd()
