"""Finding the program of a saved run, and judging whether it may carry the run on."""

import json
from collections.abc import Awaitable, Container
from pathlib import Path
from typing import NoReturn, TypeVar

from attrs import evolve

from runwright.engine.commands.host import ParkIdleRun
from runwright.engine.decisions.restarting import still_live
from runwright.engine.decisions.terminal import has_ended
from runwright.engine.embedded.code import Code, ProgramFacts, Wanted
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.launcher import Launcher
from runwright.engine.errors import (
    AgentMissing,
    ConflictError,
    NotFound,
    PreflightError,
    RecoveryRequiredError,
    SourceChanged,
    Unloadable,
)
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.reading.moment import moment_of
from runwright.engine.results import RecoveryRequired
from runwright.engine.sources.identity import SourceSet, standing
from runwright.engine.texts import check_name
from runwright.eventstore.errors import StoreClosed
from runwright.eventstore.values import Json
from runwright.projections.control.effects import EFFECTS, EffectRow
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS, RequestRow
from runwright.projections.control.runs import RunRow
from runwright.projections.projection import Projection

T = TypeVar("T")
#: A row that names its run.
Part = TypeVar("Part", EffectRow, RequestRow)


class Programs:
    """The programs of saved runs.

    Args:
        holder: The open store.
        code: Who is asked about their code.
        launcher: Who knows which executors are here.
        bridge: Brings the writer's answers to the loop.
    """

    def __init__(self, holder: Holder, code: Code, launcher: Launcher, bridge: LoopBridge) -> None:
        self._holder = holder
        self._code = code
        self._launcher = launcher
        self._bridge = bridge

    def run(self, run_id: str) -> RunRow:
        """A run's row.

        Raises:
            NotFound: There is no such run.
        """
        with moment_of(self._holder.log) as moment:
            return moment.run(run_id)

    def ended(self, run_id: str) -> RunRow:
        """The row of a run that has ended; what follows from it is checked, so it must not end only afterwards.

        Raises:
            NotFound: There is no such run.
            ConflictError: It has not ended.
        """
        with moment_of(self._holder.log) as moment:
            run, queue = moment.run(run_id), moment.rows.get(QUEUE, run_id)
        assert queue is not None, "queued by the same event as the run"
        if run.finished_at is None:
            raise ConflictError(still_live(run_id, queue.state))
        return run

    def check_lives(self, run_id: str) -> None:
        """Say that a run has ended, where it did while something was looked up for it: then it lacks nothing any more.

        Raises:
            NotFound: There is no such run.
            ConflictError: It has ended.
        """
        run = self.run(run_id)
        if run.finished_at is not None:
            raise ConflictError(has_ended(run))

    def effect(self, effect_id: str) -> tuple[EffectRow, RunRow]:
        """An effect and its run.

        Raises:
            NotFound: There is no such effect.
        """
        check_name("effect_id", effect_id)
        return self._with_run(EFFECTS, "effect", effect_id)

    def request(self, request_id: str) -> tuple[RequestRow, RunRow]:
        """A request and its run.

        Raises:
            NotFound: There is no such request.
        """
        check_name("request_id", request_id)
        return self._with_run(REQUESTS, "request", request_id)

    def _with_run(self, projection: Projection[Part], what: str, identity: str) -> tuple[Part, RunRow]:
        """What belongs to a run, and that run, both of one moment."""
        with moment_of(self._holder.log) as moment:
            row = moment.rows.get(projection, identity)
            if row is None:
                raise NotFound(what, identity)
            return row, moment.run(row.run_id)

    async def of(self, run: RunRow) -> ProgramFacts:
        """The program that a run names: handed in, started here, or loaded as its files stand now.

        Raises:
            Unloadable: A run that never started has no program that can be loaded.
            RecoveryRequiredError: A run that has started has none: it is parked with ``environment_missing``, or
                its files have changed.
        """
        return await self.had(run, self._code.load(wanted_by(run)))

    async def had(self, run: RunRow, answer: Awaitable[T]) -> T:
        """Hand on what was asked of a run's program; where there is none to be asked, say so in the log as well.

        Raises:
            Unloadable: As for `of`.
            RecoveryRequiredError: As for `of`.
        """
        try:
            return await answer
        except Unloadable as error:
            if run.started_at is None:
                raise
            saved = self._holder.reader.sources(run.sources)
            changed = () if saved is None else SourceSet(saved).changed(project_of(run))
            if saved is not None and changed:
                now = standing(project_of(run), saved)
                evidence: dict[str, Json] = {**_saved(run), "new_sources": now.digest, "files": list(changed)}
                raise RecoveryRequiredError(RecoveryRequired("source_changed", evidence)) from None
            await self._environment_missing(run, error.message)

    async def afresh(self, run: RunRow, new_run_id: str, agents: Container[str]) -> ProgramFacts:
        """The program of a run that is about to be run again: exactly its root's, or what was accepted for it since.

        Args:
            run: The run that is restarted.
            new_run_id: The new run, for which variables may have been handed over.
            agents: The names of the executors that there are.

        Raises:
            PreflightError: It cannot be loaded, it has changed, or an executor is missing.
        """
        root = self.run(run.root)
        program = await self._code.load(evolve(wanted_by(root), run_id=new_run_id))
        if not (program.carries(root) or program.carries(run)):
            raise SourceChanged(run.workflow, self._differs(run, program), ended=root.reference)
        program.check_executors(agents, root.session)
        return program

    async def check(self, run: RunRow, program: ProgramFacts) -> None:
        """Check that a program may carry a run on as it is.

        Raises:
            RecoveryRequiredError: It has changed since the run was started, or an executor is missing.
        """
        if not program.carries(run):
            evidence: dict[str, Json] = {**self.difference(run, program), "started": run.started_at is not None}
            raise RecoveryRequiredError(RecoveryRequired("source_changed", evidence))
        await self.check_executors(run, program)

    async def driving(self, run_id: str) -> ProgramFacts | None:
        """The program that drives a run on as it is; ``None`` where it has ended, or does before that is found.

        Raises:
            NotFound: There is no such run.
            Unloadable: As for `of`.
            RecoveryRequiredError: As for `check`.
        """
        run = self.run(run_id)
        if run.finished_at is not None:
            return None
        try:
            program = await self.of(run)
            await self.check(run, program)
        except (PreflightError, RecoveryRequiredError):
            if self.run(run_id).finished_at is None:
                raise
            return None
        return program

    async def check_executors(self, run: RunRow, program: ProgramFacts) -> None:
        """Check that every executor that a program asks is here.

        Raises:
            AgentMissing: One is not, for a run that never started.
            RecoveryRequiredError: One is not; the run is parked with ``environment_missing``.
        """
        try:
            program.check_executors(self._launcher.agents(run.run_id), run.session)
        except AgentMissing as error:
            if run.started_at is None:
                raise
            await self._environment_missing(run, error.message)

    async def explained(self, run: RunRow, program: ProgramFacts, answer: Awaitable[T]) -> T:
        """Hand an answer on; where the sources have changed, name the files."""
        try:
            return await answer
        except RecoveryRequiredError as error:
            if error.code != "source_changed":
                raise
            evidence: dict[str, Json] = {**error.evidence, "files": list(self._differs(run, program))}
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

    def difference(self, run: RunRow, program: ProgramFacts) -> dict[str, Json]:
        """What shows that a program is not the one that a run stands on."""
        return {
            **_saved(run),
            "new_sources": program.sources,
            "new_definition": program.definition,
            "files": list(self._differs(run, program)),
        }

    def _differs(self, run: RunRow, program: ProgramFacts) -> tuple[str, ...]:
        return program.differs_from(self._holder.reader.sources(run.sources))

    async def _environment_missing(self, run: RunRow, detail: str) -> NoReturn:
        """Say so in the log as well: until somebody brings what is missing, the run does not move."""
        park = ParkIdleRun(run_id=run.run_id, reason="environment_missing", detail=detail)
        # Refused where something else holds the run; what is missing here is missing all the same.
        await self._bridge.wrap(self._holder.transitions.host(park))
        evidence: dict[str, Json] = {"run": run.run_id, "reference": run.reference, "detail": detail}
        raise RecoveryRequiredError(RecoveryRequired("environment_missing", evidence))


def _saved(run: RunRow) -> dict[str, Json]:
    """What a run was started with."""
    return {"run": run.run_id, "old_sources": run.sources, "old_definition": run.definition}


def project_of(run: RunRow) -> Path:
    """The folder that a run's files are relative to."""
    return Path(run.project) if run.project is not None else Path.cwd()


def wanted_by(run: RunRow) -> Wanted:
    """The program that a saved run names."""
    return Wanted(
        reference=run.reference,
        project=project_of(run),
        cwd=Path(run.cwd) if run.cwd is not None else Path.cwd(),
        interpreter=run.interpreter,
        pass_env=tuple(json.loads(run.pass_env)),
        run_id=run.run_id,
        workflow=run.workflow,
        definition=run.definition,
        sources=run.sources,
    )
