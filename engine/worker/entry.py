"""What a child does with its channel: carry one generation of one run, or answer one question."""

import asyncio
import atexit
import os
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import assert_never

from runwright.engine.agents.agent import Agent
from runwright.engine.agents.specs import SpecUnusable, agent_of
from runwright.engine.clock import SystemClock
from runwright.engine.commands.worker import ExitWorker, FailRun, ParkRun, WorkerTransition
from runwright.engine.errors import PreflightError, SourceChanged
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.child import stay_in_session
from runwright.engine.execution.executor import execute
from runwright.engine.execution.port import RunState
from runwright.engine.execution.transacting import HostStopping, TransactingPort
from runwright.engine.safe import safe_message
from runwright.engine.sources.identity import SourceSet, launch_refused
from runwright.engine.sources.load import load
from runwright.engine.sources.loaded import Loaded
from runwright.engine.worker.channel import Channel
from runwright.engine.worker.envelope import Launch
from runwright.engine.worker.marking import mark
from runwright.engine.worker.messages import Answer, Ask, Command, Stop
from runwright.engine.worker.printing import NOBODY, kept, silence
from runwright.engine.worker.registering import Gate
from runwright.engine.worker.resolver import resolve
from runwright.eventstore.errors import StoreError


def serve(connection: socket.socket) -> int:
    """Do the one thing that the host asks for; answers the process's exit code."""
    # What a function forks must not hold the channel open: its end is the end of this process and of no other.
    os.register_at_fork(after_in_child=connection.close)
    channel = Channel(connection)
    match channel.receive():
        case Launch() as launch:
            return _Worker(channel, launch).run()
        case Ask() as ask:
            silence()
            channel.send(resolve(ask))
            return 0
        case Command() | Answer() | Stop():
            return 1  # nothing of these can come first: the host is not one that this worker knows
        case never:
            assert_never(never)


class _Worker:
    """One generation of one run.

    Args:
        channel: The channel.
        launch: The envelope.
    """

    def __init__(self, channel: Channel, launch: Launch) -> None:
        self._channel = channel
        self._launch = launch

    def run(self) -> int:
        """Verify, load, verify again, say so, and execute; answers the exit code."""
        launch = self._launch
        mark(launch.run_id)
        os.environ.update(launch.environment)
        stay_in_session()
        with suppress(OSError):  # a folder that is gone fails what needs it, with the node's name
            os.chdir(launch.cwd)
        with OutputLog(launch.output, secrets=launch.environment.values()) as log, kept(log):
            outcome, problem = self._outcome(log)
            atexit._run_exitfuncs()  # what the user's modules want done at the end of a process
        self._channel.exiting(outcome, problem)
        return 0 if not problem else 1

    def _outcome(self, log: OutputLog) -> tuple[str, str]:
        """How it ended, and what stopped it, in words that hold no private value."""
        try:
            loaded = self._load()
            if not isinstance(loaded, Loaded):
                return asyncio.run(self._end_launch(loaded)), ""
            self._channel.ready()
            match self._channel.receive():
                case Command(state=state):
                    return asyncio.run(self._execute(loaded, state, log)), ""
                case _:
                    return "crashed", "it was told something else than a command"
        except HostStopping:
            return "parked", ""
        except asyncio.CancelledError:
            return "crashed", "it was told to end"
        except StoreError as error:
            return "crashed", f"it could not say what it did ({error.code})"
        except Exception as error:  # noqa: BLE001 - whatever it is, the host has to hear of it
            log.line(f"{NOBODY} ERROR", f"stopped by {type(error).__name__}")
            return "crashed", f"it raised {type(error).__name__}"

    # --- loading ----------------------------------------------------------------------------------------------

    def _load(self) -> Loaded | PreflightError:
        """The workflow that the run stands on, or what is wrong with its files."""
        launch = self._launch
        wanted = SourceSet(launch.sources or {})
        changed = wanted.changed(launch.project)
        if changed:
            return self._changed(wanted, changed)
        try:
            loaded = load(launch.reference, launch.project, launch.user)
        except PreflightError as error:
            return error
        changed = wanted.differs_from(loaded.sources) or wanted.changed(launch.project)
        if changed or loaded.program.definition.digest != launch.definition:
            return self._changed(wanted, changed)
        return loaded

    def _changed(self, wanted: SourceSet, changed: tuple[str, ...]) -> PreflightError:
        launch = self._launch
        if launch.began:
            return SourceChanged(launch.workflow, changed)
        return launch_refused(launch.workflow, wanted, launch.project, changed)

    async def _end_launch(self, error: PreflightError) -> str:
        """Say why none of the workflow's code can run: a run that began is parked, another fails."""
        code, message = error.code, safe_message(error.message)
        end: WorkerTransition = FailRun(outcome="failed", code=code, phase="load", message=message)
        if self._launch.began:
            # With equal sources it is the environment that lacks something.
            reason = "source_changed" if isinstance(error, SourceChanged) else "environment_missing"
            end = ParkRun(reason=reason, code=code, detail=message)
        await self._port().transact([end, ExitWorker(outcome="failed", phase="load", code=code)])
        return "failed"

    # --- executing --------------------------------------------------------------------------------------------

    async def _execute(self, loaded: Loaded, state: RunState, log: OutputLog) -> str:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        # Ended by the host: what it started is ended in good order, as long as the host's patience lasts.
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
        port = self._port()
        port.go_on(state)
        try:
            return await execute(
                loaded.program,
                state,
                port,
                agents=self._agents(Gate(port), log),
                clock=SystemClock(),
                log=log,
                ready=True,
                secrets=self._launch.environment.values(),
            )
        finally:
            port.close()

    def _port(self) -> TransactingPort:
        return TransactingPort(
            authority=self._launch.authority,
            submit=self._channel.submit,
            bridge=LoopBridge(asyncio.get_running_loop()),
            clock=SystemClock(),
            stopping=self._channel.stopping,
        )

    def _agents(self, gate: Gate, log: OutputLog) -> Mapping[str, Agent]:
        """The executors; where one cannot be made, the run parks at the first node that asks it."""
        agents: dict[str, Agent] = {}
        for name, spec in self._launch.agents.items():
            try:
                agents[name] = agent_of(spec, gate)
            except SpecUnusable as error:
                log.line(f"{NOBODY} ERROR", f"the executor {name} is not there: {error}")
        return agents
