"""Executes a workflow against the scripted port."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runwright.engine.agents.agent import Agent
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.clock import SystemClock
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.ending import WorkerEnd
from runwright.engine.execution.executor import execute
from runwright.engine.graph.compile import compile_workflow
from runwright.eventstore.values import Json
from support.scripted_port import Crash, ScriptedPort


def port_for(workflow: Workflow[Any], folder: Path, *, max_steps: int = 1000) -> ScriptedPort:
    """A fresh run of a workflow."""
    return ScriptedPort(compile_workflow(workflow), folder, max_steps=max_steps)


async def carry(port: ScriptedPort, run_input: Json = None, *, agents: Mapping[str, Agent] | None = None) -> WorkerEnd:
    """One worker's execution of the run, on the running loop."""
    with OutputLog(port.folder / "output.log") as log:
        return await execute(
            port.program,
            port.state({} if run_input is None else run_input),
            port,
            agents=agents or {},
            clock=SystemClock(),
            log=log,
        )


def run(port: ScriptedPort, run_input: Json = None, *, agents: Mapping[str, Agent] | None = None) -> WorkerEnd:
    """One worker's execution of the run, from its start to its end."""
    return asyncio.run(carry(port, run_input, agents=agents))


def run_until_crash(
    port: ScriptedPort, run_input: Json = None, *, agents: Mapping[str, Agent] | None = None
) -> WorkerEnd | None:
    """The same, where the worker may vanish: ``None`` when it did."""

    async def guarded() -> WorkerEnd | None:
        try:
            return await carry(port, run_input, agents=agents)
        except Crash:
            return None

    return asyncio.run(guarded())


def output_log(port: ScriptedPort) -> str:
    """What stands in the run's output log."""
    path = port.folder / "output.log"
    return path.read_text() if path.exists() else ""
