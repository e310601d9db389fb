"""An engine of this process behind a socket, as a host serves it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from runwright import Workflow
from runwright.engine.agents.agent import Agent
from runwright.engine.clock import Clock
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.embedded.catalog import Catalog
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.local_code import LocalCode
from runwright.engine.host.serving.server import Server
from runwright.engine.host.serving.surface import HostFacts, Surface
from runwright.engine.protocol.peers import peer_uid


@define
class StandIn:
    """Stands in for a host: it tells what it was told to tell, and says that it was told to stop."""

    facts_: HostFacts = field(
        factory=lambda: HostFacts(draining=False, started_at=0, capacity=4, workers=1, launching=0)
    )
    stopped: asyncio.Event = field(factory=asyncio.Event)

    def facts(self) -> HostFacts:
        """How it stands."""
        return self.facts_

    def stop(self, grace: float | None) -> None:
        """Say that it was told."""
        self.stopped.set()


@frozen(kw_only=True)
class Served:
    """What is served, from the inside."""

    engine: AsyncEngine
    holder: Holder
    server: Server
    host: StandIn
    home: Path


@asynccontextmanager
async def served(
    home: Path,
    workflows: Iterable[Workflow[Any]] = (),
    *,
    agents: Mapping[str, Agent] | None = None,
    peer: Callable[[socket.socket], int | None] = peer_uid,
    clock: Clock | None = None,
) -> AsyncIterator[Served]:
    """Serve the store at a place; everything has ended when the block is left."""
    catalog = Catalog(tuple(workflows))
    holder = await asyncio.to_thread(Holder.open, home, clock=clock)
    engine = AsyncEngine.in_process(holder, catalog=catalog, agents=agents or {})
    host = StandIn()
    server = await Server.open(Surface(engine=engine, holder=holder, code=LocalCode(catalog), host=host), peer=peer)
    try:
        yield Served(engine=engine, holder=holder, server=server, host=host, home=home)
    finally:
        await server.close()
        await engine.close()
