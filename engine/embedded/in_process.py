"""Runs that are carried out in the engine's own process, by its own executors."""

import asyncio
import threading
from collections.abc import Mapping

from runwright.engine.agents.agent import Agent, kind_of
from runwright.engine.commands.client import QueueRun
from runwright.engine.embedded.catalog import Catalog, Driven
from runwright.engine.embedded.code import ProgramFacts
from runwright.engine.embedded.driver import Driver
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.launcher import Provisions, waited_for
from runwright.engine.execution.bridge import LoopBridge
from runwright.projections.control.runs import RunRow


class InProcess:
    """Drives what was asked for here, and what a workflow was handed in for.

    Args:
        holder: The open store.
        catalog: The programs.
        agents: The executors by name.
    """

    def __init__(self, holder: Holder, catalog: Catalog, agents: Mapping[str, Agent]) -> None:
        self._catalog = catalog
        self._kinds = {name: kind_of(agent) for name, agent in agents.items()}
        self._stopping = threading.Event()
        self._driver = Driver(holder, LoopBridge(asyncio.get_running_loop()), agents, self._stopping)
        self._taken: dict[str, Driven] = {}

    def provide(self, run_id: str, provisions: Provisions) -> None:
        """As `Launcher.provide`: its executors are objects and its variables its own, so there is nothing to keep."""
        del run_id, provisions

    def hand_on(self, run_id: str, to: str) -> None:
        """As `Launcher.hand_on`: there is nothing to keep."""
        del run_id, to

    def agents(self, run_id: str) -> Mapping[str, str]:
        """As `Launcher.agents`: every run has those of the engine."""
        del run_id
        return self._kinds

    def take(self, run_id: str, program: ProgramFacts) -> None:
        """As `Launcher.take`."""
        assert isinstance(program, Driven), "whoever has no code of it drives nothing here"
        self._taken[run_id] = program

    def taken(self, run_id: str) -> bool:
        """As `Launcher.taken`."""
        return run_id in self._taken

    def takes(self, run: RunRow) -> bool:
        """As `Launcher.takes`; a run whose workflow nobody handed in waits for an explicit resume."""
        if run.run_id in self._taken:
            return True
        driven = self._catalog.handed(run)
        if driven is None:
            return False
        if not waited_for(run):
            driven.check_executors(self._kinds, run.session)
        self._taken[run.run_id] = driven
        return True

    def forget(self, run_id: str) -> None:
        """As `Launcher.forget`."""
        self._taken.pop(run_id, None)

    async def launch(self, run_id: str, queued: QueueRun | None) -> str | None:
        """As `Launcher.launch`."""
        driven = self._taken.get(run_id)
        return None if driven is None else await self._driver.launch(run_id, driven, queued)

    def stop(self) -> None:
        """As `Launcher.stop`."""
        self._stopping.set()
