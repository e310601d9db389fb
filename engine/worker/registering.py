"""The gate before what a worker starts for an executor: nothing is handed to it before its identity is committed."""

from runwright.engine.commands.worker import RegisterProcess, UnregisterProcess
from runwright.engine.execution.port import Port
from runwright.engine.processes import identify
from runwright.engine.results import Adopted, Applied
from runwright.eventstore.events.event import ProcessIdentity


class GateClosed(Exception):
    """A process was not registered, so it gets nothing to do."""

    def __init__(self) -> None:
        super().__init__("its process could not be registered")


class Gate:
    """Names processes to the host by exact identity, before they get a prompt and after they ended.

    Args:
        port: The run's port.
    """

    def __init__(self, port: Port) -> None:
        self._port = port
        self._behind: dict[int, ProcessIdentity] = {}

    async def opened(self, pid: int) -> None:
        """Register a process that was started and waits.

        Raises:
            GateClosed: The host did not take it.
        """
        process = identify(pid)
        if process is None:
            return  # it has ended already, which its starter is about to see
        (result,) = await self._port.transact([RegisterProcess(process=process)])
        if not isinstance(result, Applied | Adopted):
            raise GateClosed
        self._behind[pid] = process

    async def closed(self, pid: int) -> None:
        """Say that a process and everything in its group is gone."""
        process = self._behind.pop(pid, None)
        if process is not None:
            await self._port.transact([UnregisterProcess(process=process)])
