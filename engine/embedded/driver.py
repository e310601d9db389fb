"""One launch of one run in this process: claim, execute, and say how it ended."""

import asyncio
import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path

from runwright.engine.agents.agent import Agent
from runwright.engine.commands.client import QueueRun
from runwright.engine.commands.host import ClaimRun, RecordExit
from runwright.engine.commands.worker import Authority, ExitWorker, FailRun, ParkRun, WorkerTransition
from runwright.engine.decisions.run_command import check_command
from runwright.engine.embedded.catalog import Driven
from runwright.engine.embedded.folders import make_folders
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.programs import project_of, wanted_by
from runwright.engine.embedded.state import fresh_state, read_launch, read_state
from runwright.engine.errors import PreflightError, SourceChanged
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.execution.calling import in_thread, returned
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.executor import execute
from runwright.engine.execution.port import RunState
from runwright.engine.execution.transacting import HostStopping, TransactingPort
from runwright.engine.identity import new_id
from runwright.engine.reading.moment import moment_of
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.engine.safe import handed_on, safe_message
from runwright.engine.sources.identity import SourceSet, launch_refused
from runwright.engine.transitions.worker import token_hash
from runwright.eventstore.errors import StoreError
from runwright.projections.control.runs import RunRow

_log = logging.getLogger("runwright.engine")

TOKEN_BYTES = 32

#: How often the store is asked again to take a worker's end, and the pause before each further try (seconds).
TRIES = 5
PAUSE = 0.2


class CommandRefused(Exception):
    """A launch was told something that does not fit its run: none of the workflow's code runs."""

    def __init__(self, refusal: Conflict) -> None:
        super().__init__(refusal.code, dict(refusal.evidence))


class Driver:
    """Launches runs under the holder's epoch.

    Args:
        holder: The open store.
        bridge: Brings the writer's answers to the loop.
        agents: The executors by name.
        stopping: Set once every run has to stop at its next boundary.
    """

    def __init__(
        self, holder: Holder, bridge: LoopBridge, agents: Mapping[str, Agent], stopping: threading.Event
    ) -> None:
        self._holder = holder
        self._bridge = bridge
        self._agents = agents
        self._stopping = stopping

    async def launch(self, run_id: str, driven: Driven, queued: QueueRun | None) -> str | None:
        """Drive a run until it ended or stopped.

        Args:
            run_id: An eligible run.
            driven: Its program.
            queued: What this engine itself queued, where the run has never been launched: then nothing is read.

        Returns:
            How the worker ended, or ``None`` where the run could not be claimed.
        """
        # A function that outlived its time limit and cannot be stopped must not overlap with what comes next.
        await returned(run_id)
        authority = await self._claim(run_id)
        if authority is None:
            return None
        port = TransactingPort(
            authority=authority,
            submit=self._holder.transitions.worker,
            bridge=self._bridge,
            clock=self._holder.clock,
            stopping=self._stopping,
        )
        self._holder.renewal.hold(authority)
        try:
            observed = await self._carry(run_id, driven, queued, port)
        finally:
            port.close()
            self._holder.renewal.drop(authority)
        if port.exited is not None:
            return port.exited.outcome
        await self._put_away(authority, observed)
        return None if observed is None else observed.outcome

    async def _claim(self, run_id: str) -> Authority | None:
        holder = self._holder
        worker = new_id(holder.clock.now(), holder.random)
        owner, token = f"{holder.epoch}:{worker}", holder.random(TOKEN_BYTES).hex()
        claim = ClaimRun(run_id=run_id, owner=owner, token_hash=token_hash(token), process=holder.process)
        answer = self._bridge.wrap(holder.transitions.host(claim))
        try:
            # Not given up with the task: a claim that is committed has to be given back.
            result = await asyncio.shield(answer)
        except asyncio.CancelledError:
            if isinstance(await answer, Applied):
                await self._put_away(None, RecordExit(run_id=run_id, worker=worker, outcome="orphaned"))
            raise
        except StoreError as error:
            _log.warning("run %s was not claimed: %s", run_id, error.code)
            await asyncio.sleep(PAUSE)
            return None
        if not isinstance(result, Applied):
            return None
        return Authority(run_id=run_id, owner=owner, token=token, generation=int(str(result.value)))

    async def _carry(
        self, run_id: str, driven: Driven, queued: QueueRun | None, port: TransactingPort
    ) -> RecordExit | None:
        """Execute; answer what has to be recorded where the worker could not say its end itself.

        ``None`` says that the claim was lost: the run ended, or somebody else has it.
        """
        worker = port.worker
        orphaned = RecordExit(run_id=run_id, worker=worker, outcome="orphaned")
        crashed = RecordExit(run_id=run_id, worker=worker, outcome="crashed")
        try:
            await self._execute(run_id, driven, queued, port)
        except HostStopping:
            return orphaned
        except asyncio.CancelledError:
            # Either the holder stops and this run took too long, or the run was ended by a command.
            return orphaned if self._stopping.is_set() else None
        except StoreError as error:
            _log.warning("run %s stopped: %s", run_id, error.code)
            return crashed
        except Exception as error:  # noqa: BLE001 - whatever it is, the run is put away and the engine lives on
            _log.warning("run %s stopped: %s; more is told at debug level", run_id, _cause(error))
            _log.debug("run %s", run_id, exc_info=True)
            return crashed
        return None

    async def _execute(self, run_id: str, driven: Driven, queued: QueueRun | None, port: TransactingPort) -> None:
        folder = self._holder.home.run_folder(run_id)
        scratch = folder / "scratch"
        # On a disk that is being synced this takes as long as a commit, and the loop has other runs to carry.
        lacking = await in_thread(run_id, make_folders, folder.parent, folder, scratch)
        began = False
        if queued is not None:
            state, names = fresh_state(queued, scratch), queued.pass_env
        else:
            run, state, refusal = await asyncio.to_thread(self._read, run_id, scratch)
            if refusal is not None:
                raise CommandRefused(refusal)
            waited = run.session is not None and run.started_at is None
            moved = await asyncio.to_thread(self._moved, run) if waited else ()
            if moved or not driven.carries(run):
                await self._refuse(run, driven, port)
                return
            began, names = _began(run), wanted_by(run).pass_env
            if (missing := self._missing(run, driven)) is not None:
                await _end_launch(port, began, "environment_missing", missing.code, missing.message)
                return
        if lacking is not None:
            await _end_launch(port, began, "environment_missing", "activation_failed", str(lacking))
            return
        secrets, clock = handed_on(names, os.environ), self._holder.clock
        with OutputLog(scratch.with_name("output.log"), secrets=secrets) as log:
            port.go_on(state)
            await execute(driven.program, state, port, agents=self._agents, clock=clock, log=log, secrets=secrets)

    def _missing(self, run: RunRow, driven: Driven) -> PreflightError | None:
        """What a run lacks here that was to begin; one that has started is told at the node that asks."""
        try:
            if run.started_at is None:
                driven.check_executors(self._agents, run.session)
        except PreflightError as error:
            return error
        return None

    def _read(self, run_id: str, scratch: Path) -> tuple[RunRow, RunState, Conflict | None]:
        with moment_of(self._holder.log) as moment:
            run = moment.run(run_id)
            state = read_state(run, moment.rows, moment.event, scratch)
            return run, state, check_command(state.command, read_launch(run, moment.rows))

    async def _refuse(self, run: RunRow, driven: Driven, port: TransactingPort) -> None:
        """Fail the launch, or park a run whose chain had started: its sources are not the ones it was started with."""
        error = await asyncio.to_thread(self._difference, run, driven)
        await _end_launch(port, _began(run), "source_changed", error.code, error.message)

    def _moved(self, run: RunRow) -> tuple[str, ...]:
        """The files that changed while a run waited for its session; one that has started stands on what it loaded."""
        saved = self._holder.reader.sources(run.sources) if run.started_at is None else None
        return () if saved is None else SourceSet(saved).changed(project_of(run))

    def _difference(self, run: RunRow, driven: Driven) -> PreflightError:
        saved = self._holder.reader.sources(run.sources)
        changed = () if saved is None else driven.differs_from(saved) or self._moved(run)
        if saved is None or _began(run):
            return SourceChanged(run.workflow, changed)
        return launch_refused(run.workflow, SourceSet(saved), project_of(run), changed)

    async def _put_away(self, authority: Authority | None, observed: RecordExit | None) -> None:
        """Have the worker's end recorded, by itself or as observed; a store that cannot take it now is asked again."""
        for attempt in range(TRIES):
            if attempt:
                await asyncio.sleep(PAUSE)
            try:
                if observed is not None:
                    await self._bridge.wrap(self._holder.transitions.host(observed))
                else:
                    assert authority is not None, "a worker speaks for itself only under its claim"
                    await self._say_lost(authority)
            except StoreError as error:
                _log.warning("the end of a worker was not recorded: %s", error.code)
            else:
                return

    async def _say_lost(self, authority: Authority) -> None:
        """Let a worker say that it lost its claim; where the claim only ran out, its end is observed instead.

        A holder that stood still for longer than a lease lasts (a stopped process) finds its own claims expired:
        nobody else has the runs, and they go on in a new generation.
        """
        transitions = self._holder.transitions
        (said,) = await self._bridge.wrap(transitions.worker(authority, [ExitWorker(outcome="claim_lost")]))
        if not isinstance(said, Applied | Adopted):
            crashed = RecordExit(run_id=authority.run_id, worker=authority.worker, outcome="crashed")
            await self._bridge.wrap(transitions.host(crashed))


def _began(run: RunRow) -> bool:
    """Whether the run, or the chain that it carries on, ever began: then it waits for what it lacks."""
    return run.started_at is not None or run.kind == "continue"


async def _end_launch(port: TransactingPort, began: bool, reason: str, code: str, message: str) -> None:
    """Say why none of the workflow's code can run: a run that began is parked, another fails."""
    message = safe_message(message)
    end: WorkerTransition = ParkRun(reason=reason, code=code, detail=message)
    if not began:
        end = FailRun(outcome="failed", code=code, phase="load", message=message)
    await port.transact([end, ExitWorker(outcome="failed", phase="load", code=code)])


def _cause(error: Exception) -> str:
    """What stopped a run, in words that hold no private value."""
    if isinstance(error, CommandRefused):
        return f"it was refused ({error.args[0]})"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{'' if error.filename is None else f': {os.fsdecode(error.filename)}'}"
    return f"it raised {type(error).__name__}"
