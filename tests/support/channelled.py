"""Executes a workflow of this process over a worker's channel, whose other end asks the scripted port."""

import asyncio
import socket
import threading
from collections.abc import Mapping
from pathlib import Path

from runwright.engine.agents.agent import Agent
from runwright.engine.clock import SystemClock
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.ending import WorkerEnd
from runwright.engine.execution.executor import execute
from runwright.engine.execution.port import RunState
from runwright.engine.execution.transacting import TransactingPort
from runwright.engine.wire.frames import FrameReader
from runwright.engine.wire.parts import Assembler, frames_of
from runwright.engine.worker.channel import Channel
from runwright.engine.worker.envelope import Launch
from runwright.engine.worker.messages import FROM_CHILD, FROM_HOST, Answer, FromHost, Transact
from runwright.engine.worker.transitions import as_data
from support.scripted_port import ScriptedPort


def run_over_channel(port: ScriptedPort, *, agents: Mapping[str, Agent] | None = None) -> WorkerEnd:
    """One worker's execution of the run, from its start to its end."""
    ours, theirs = socket.socketpair()
    host = threading.Thread(target=_serve, args=(ours, port))
    host.start()
    try:
        channel = Channel(theirs, ended=lambda: None)
        launch = channel.receive()
        assert isinstance(launch, Launch)
        return asyncio.run(_execute(channel, launch, port, port.state({}), agents or {}))
    finally:
        theirs.shutdown(socket.SHUT_RDWR)
        host.join()
        theirs.close()
        ours.close()


async def _execute(
    channel: Channel, launch: Launch, port: ScriptedPort, state: RunState, agents: Mapping[str, Agent]
) -> WorkerEnd:
    over = TransactingPort(
        authority=launch.authority,
        submit=channel.submit,
        bridge=LoopBridge(asyncio.get_running_loop()),
        clock=SystemClock(),
        stopping=channel.stopping,
    )
    with OutputLog(launch.output) as log:
        try:
            return await execute(port.program, state, over, agents=agents, clock=SystemClock(), log=log)
        finally:
            over.close()


def _serve(connection: socket.socket, port: ScriptedPort) -> None:
    _send(connection, _launch(port.folder))
    reader, assembler = FrameReader(), Assembler()
    while data := connection.recv(65536):
        for frame in reader.feed(data):
            message = assembler.take(frame)
            told = None if message is None else FROM_CHILD.read(message)
            if isinstance(told, Transact):
                results = asyncio.run(port.transact(told.transitions))
                _send(connection, Answer(id=told.id, results=as_data(results)))


def _send(connection: socket.socket, message: FromHost) -> None:
    for frame in frames_of(FROM_HOST.write(message)):
        connection.sendall(frame)


def _launch(folder: Path) -> Launch:
    return Launch(
        run_id="run",
        generation=1,
        owner="host:worker",
        token="ab" * 32,
        workflow="flow",
        reference="flow.py",
        project=folder,
        cwd=folder,
        scratch=folder,
        output=folder / "output.log",
        sources=None,
        definition="digest",
        progress=0,
        began=False,
    )
