"""Telling sessions how runs ended: after each end, at the start, and again after a failure (page 07)."""

import asyncio
import logging
from pathlib import Path
from typing import Final, assert_never

from attrs import frozen

from runwright.engine.commands.host import FailPresentation, HostCommand, PresentRun
from runwright.engine.embedded.code import Code, Ended, Instructions, NotPrepared, Presented
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.programs import wanted_by
from runwright.engine.embedded.state import read_state
from runwright.engine.errors import PreflightError, Unloadable, Unsupported
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.execution.port import RunState
from runwright.engine.graph.definition import Definition
from runwright.engine.reading.moment import moment_of
from runwright.engine.results import Adopted, Applied
from runwright.engine.rundata import Found, RunData
from runwright.engine.tasks import end_task, own_task
from runwright.engine.transitions.definitions import Definitions, DefinitionUnreadable
from runwright.eventstore.errors import StoreError
from runwright.eventstore.values import Json
from runwright.projections.control.runs import RunRow
from runwright.projections.control.terminal import TERMINAL

_log = logging.getLogger("runwright.engine")

#: Seconds before the next try after a failure: doubled each time, and no more than this.
FIRST: Final = 1.0
MOST: Final = 3_600.0

#: Functions that are asked at once: fewer than a host has places for quick questions, so that those that never return
#: hold up nobody's start.
AT_ONCE: Final = 3

_DUE: Final = ("pending", "failed")


def delay_after(failures: int) -> float:
    """Seconds between the last of so many failures and the next try."""
    return min(MOST, FIRST * 2.0 ** min(failures - 1, 20))


@frozen
class _End:
    """An end that may still have to be told of; ``readable`` is whether this version knows what is to be told."""

    run: RunRow
    due: bool
    failed: int
    since: int
    definition: Definition | None
    readable: bool
    output: Json
    state: RunState | None


class Presenting:
    """The only builder of messages that tell how a run ended; it works on committed facts, and changes no end.

    Args:
        holder: The open store.
        bridge: Brings the writer's answers to the loop.
        code: Who asks the presentation functions.
    """

    def __init__(self, holder: Holder, bridge: LoopBridge, code: Code) -> None:
        self._holder = holder
        self._bridge = bridge
        self._code = code
        self._places = asyncio.Semaphore(AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._definitions = Definitions()
        self._stopped = False

    def begin(self) -> None:
        """Take up every end that lacks its message."""
        with moment_of(self._holder.log) as moment:
            due = [row.run_id for state in _DUE for row in moment.rows.find(TERMINAL, presentation=state)]
        for run_id in due:
            self.due(run_id)

    @property
    def settled(self) -> bool:
        """Whether no end has to be told of any more."""
        return not self._tasks

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
        wait = delay_after(end.failed)
        return min(wait, max(0.0, wait - (self._holder.clock.now() - end.since) / 1_000_000))

    async def _try(self, end: _End) -> bool:
        command: HostCommand
        match await self._instructions(end):
            case Instructions(text=text):
                command = PresentRun(run_id=end.run.run_id, instructions=text)
            case NotPrepared(code=code, reason=reason):
                command = FailPresentation(run_id=end.run.run_id, code=code, reason=reason)
            case never:
                assert_never(never)
        result = await self._bridge.wrap(self._holder.transitions.host(command))
        return isinstance(result, Applied | Adopted) and result.value != "failed"

    def _read(self, run_id: str) -> _End:
        with moment_of(self._holder.log) as moment:
            run, terminal = moment.run(run_id), moment.rows.get(TERMINAL, run_id)
            due = terminal is not None and terminal.presentation in _DUE
            definition, output, state, readable = None, None, None, True
            if terminal is not None and due and terminal.outcome == "completed":
                try:
                    definition = self._definitions.get(moment.event, moment.rows, run.definition)
                except DefinitionUnreadable:
                    readable = False
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
            readable=readable,
            output=output,
            state=state,
        )

    def _scratch(self, run_id: str) -> Path:
        return self._holder.home.run_folder(run_id) / "scratch"

    async def _instructions(self, end: _End) -> Presented:
        """What the workflow wants told; only a completed run has a result to tell of."""
        if not end.readable:
            error = Unsupported(end.run.workflow)
            return NotPrepared(code=error.code, reason=error.message)
        if end.state is None:
            return Instructions(text=None if end.definition is None else end.definition.presentation)
        try:
            async with self._places:
                return await self._code.present(Ended(wanted=wanted_by(end.run), state=end.state, output=end.output))
        except Unloadable as error:
            return NotPrepared(code="environment_missing", reason=error.message)
        except PreflightError as error:
            return NotPrepared(code=error.code, reason=error.message)
