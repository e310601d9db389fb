"""Telling sessions how runs ended: after each end, at the start, and again after a failure (page 07)."""

import asyncio
import logging
from pathlib import Path
from typing import Final

from attrs import frozen

from runwright.engine.commands.host import FailPresentation, HostCommand, PresentRun
from runwright.engine.embedded.catalog import Catalog, Driven
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.state import read_state
from runwright.engine.errors import PreflightError
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.execution.calling import OutOfTime, call
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.contexts import InputUnfit, build_context
from runwright.engine.execution.failures import describe, trace
from runwright.engine.execution.places import Places
from runwright.engine.execution.port import RunState
from runwright.engine.graph.definition import Definition
from runwright.engine.reading.moment import moment_of
from runwright.engine.results import Adopted, Applied
from runwright.engine.rundata import Found, RunData
from runwright.engine.tasks import end_task, own_task
from runwright.eventstore.errors import StoreError
from runwright.eventstore.events.definition import DefinitionRecorded
from runwright.eventstore.values import Json
from runwright.projections.control.definitions import DEFINITIONS
from runwright.projections.control.runs import RunRow
from runwright.projections.control.terminal import TERMINAL

_log = logging.getLogger("runwright.engine")

#: Seconds that a workflow's presentation function may take.
LIMIT: Final = 30.0

#: Seconds before the next try after a failure: doubled each time, and no more than this.
FIRST: Final = 1.0
MOST: Final = 3_600.0

_DUE: Final = ("pending", "failed")


class _Unprepared(Exception):
    """The instructions could not be worked out; it says so in words of ours."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@frozen
class _End:
    """An end that may still have to be told of."""

    run: RunRow
    due: bool
    failed: int
    since: int
    definition: Definition | None
    output: Json
    state: RunState | None


class Presenting:
    """The only builder of messages that tell how a run ended; it works on committed facts, and changes no end.

    Args:
        holder: The open store.
        bridge: Brings the writer's answers to the loop.
        catalog: The programs, whose presentation functions are asked.
    """

    def __init__(self, holder: Holder, bridge: LoopBridge, catalog: Catalog) -> None:
        self._holder = holder
        self._bridge = bridge
        self._catalog = catalog
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stopped = False
        # Loading runs the user's files and moves what this process has imported: one at a time.
        self._loading = asyncio.Lock()

    def begin(self) -> None:
        """Take up every end that lacks its message."""
        with moment_of(self._holder.log) as moment:
            due = [row.run_id for state in _DUE for row in moment.rows.find(TERMINAL, presentation=state)]
        for run_id in due:
            self.due(run_id)

    def due(self, run_id: str) -> None:
        """Look at a run that may have ended; where its end owes a message, build it in the background."""
        if self._stopped or run_id in self._tasks:
            return
        task = own_task(self._present(run_id), name=f"present {run_id}")
        self._tasks[run_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(run_id, None))

    async def stop(self) -> None:
        """Leave what is not done to the next holder."""
        self._stopped = True
        tasks = list(self._tasks.values())
        for task in tasks:
            end_task(task)
        if tasks:
            await asyncio.wait(tasks)

    async def _present(self, run_id: str) -> None:
        """Try until the message stands, or never will."""
        tries = 0
        while True:
            delay = FIRST
            try:
                end = await asyncio.to_thread(self._read, run_id)
                if not end.due:
                    return
                await asyncio.sleep(self._left(end))
                done = await self._try(end)
            except StoreError as error:
                if error.code == "store_closed":
                    return
                _log.warning("the end of run %s was not told of: %s", run_id, error.code)
                done = False
            except Exception:  # noqa: BLE001 - a fault of ours must not end the engine, nor this run's chance
                _log.warning("the end of run %s was not told of; the log tells more at debug level", run_id)
                _log.debug("presentation of run %s", run_id, exc_info=True)
                done = False
                delay = min(MOST, FIRST * 2.0**tries)
            if done:
                return
            tries += 1
            await asyncio.sleep(delay)

    def _left(self, end: _End) -> float:
        """Seconds until the next try: what failed before is tried again later and later."""
        if not end.failed:
            return 0.0
        wait = min(MOST, FIRST * 2.0 ** min(end.failed - 1, 20))
        return min(wait, max(0.0, wait - (self._holder.clock.now() - end.since) / 1_000_000))

    async def _try(self, end: _End) -> bool:
        command: HostCommand
        try:
            instructions = await self._instructions(end)
        except _Unprepared as problem:
            command = FailPresentation(run_id=end.run.run_id, code=problem.code, reason=problem.reason)
        else:
            command = PresentRun(run_id=end.run.run_id, instructions=instructions)
        result = await self._bridge.wrap(self._holder.transitions.host(command))
        return isinstance(result, Applied | Adopted) and result.value != "failed"

    def _read(self, run_id: str) -> _End:
        with moment_of(self._holder.log) as moment:
            run, terminal = moment.run(run_id), moment.rows.get(TERMINAL, run_id)
            due = terminal is not None and terminal.presentation in _DUE
            definition, output, state = None, None, None
            if terminal is not None and due and terminal.outcome == "completed":
                saved = moment.rows.get(DEFINITIONS, run.definition)
                recorded = moment.event(None if saved is None else saved.snapshot)
                event = None if recorded is None else recorded.event
                if isinstance(event, DefinitionRecorded) and event.snapshot is not None:
                    definition = Definition.from_snapshot(event.snapshot.value)
                found = RunData(moment.rows, moment.event).read_final_output(run_id)
                output = found.value if isinstance(found, Found) else None
                if definition is not None and definition.dynamic_presentation:
                    state = read_state(run, moment.rows, moment.event, self._scratch(run_id))
        return _End(
            run=run,
            due=due,
            failed=terminal.attempts if terminal is not None and terminal.presentation == "failed" else 0,
            since=0 if terminal is None else terminal.since,
            definition=definition,
            output=output,
            state=state,
        )

    def _scratch(self, run_id: str) -> Path:
        return self._holder.home.run_folder(run_id) / "scratch"

    async def _instructions(self, end: _End) -> str | None:
        """What the workflow wants told; only a completed run has a result to tell of."""
        definition = end.definition
        if definition is None:
            return None
        if not definition.dynamic_presentation:
            return definition.presentation
        driven = await self._program(end.run)
        state = end.state
        if driven.program.present is None or state is None or not driven.carries(end.run):
            raise _Unprepared("source_changed", "The workflow is not the one that the run was started with.")
        folder = self._scratch(end.run.run_id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with OutputLog(folder.with_name("output.log")) as log:
            places = Places(
                driven.program.definition, state.nodes, state.mounts, steps=state.steps, max_steps=state.max_steps
            )
            try:
                context = build_context(
                    driven.program,
                    state,
                    places,
                    path="",
                    visit=1,
                    attempt=1,
                    deadline=None,
                    log=log,
                    report=_ignored,
                )
                text = await call(end.run.run_id, LIMIT, driven.program.present, context, end.output)
            except InputUnfit as unfit:
                log.line("presentation", trace(unfit.__cause__ or unfit))
                raise _Unprepared("input_invalid", unfit.message) from None
            except OutOfTime:
                raise _Unprepared(
                    "function_timed_out", f"The presentation function took over {LIMIT:.0f} seconds."
                ) from None
            except Exception as error:  # noqa: BLE001 - the user's function may raise anything
                log.line("presentation", describe(error))
                raise _Unprepared(
                    "function_failed", f"The presentation function raised {type(error).__name__}."
                ) from None
        if text is not None and not isinstance(text, str):
            raise _Unprepared("output_invalid", f"The presentation function returned {type(text).__name__}, no text.")
        return text or None

    async def _program(self, run: RunRow) -> Driven:
        known = self._catalog.handed(run) or self._catalog.started_here(run)
        if known is not None:
            return known
        project = Path(run.project) if run.project is not None else Path.cwd()
        try:
            async with self._loading:
                return await asyncio.to_thread(self._catalog.of_reference, run.reference, project)
        except PreflightError as error:
            raise _Unprepared("environment_missing", error.message) from None


def _ignored(key: str, update: Json) -> None:
    """Progress after the end is nobody's."""
    del key, update
