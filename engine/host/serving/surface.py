"""What clients are served by: the engine, whoever is asked about code, and the host's own words."""

from pathlib import Path
from typing import Protocol

from attrs import frozen

from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.embedded.code import Code
from runwright.engine.embedded.holder import Holder


@frozen(kw_only=True)
class HostFacts:
    """What only the host itself knows of how it stands.

    Attributes:
        draining: Whether it was told to stop.
        started_at: Since when it serves (UTC microseconds).
        capacity: How many runs it drives at once.
        workers: Worker processes that are at work.
        launching: Workers that have not said yet that they are ready.
        troubles: Codes of what went wrong lately and when (UTC microseconds), the newest first.
    """

    draining: bool
    started_at: int
    capacity: int
    workers: int
    launching: int
    troubles: tuple[tuple[str, int], ...] = ()


class Host(Protocol):
    """The host as its clients see it."""

    def facts(self) -> HostFacts:
        """How it stands; on the loop."""
        ...

    def stop(self, grace: float | None) -> None:
        """Begin to drain, and exit after it; returns at once."""
        ...


@frozen(kw_only=True)
class Surface:
    """Everything that operations reach.

    Attributes:
        engine: The engine.
        holder: Its open store.
        code: Who is asked about workflows' code.
        host: The host.
        user: The user's configuration folder, which may hold workflows.
    """

    engine: AsyncEngine
    holder: Holder
    code: Code
    host: Host
    user: Path | None = None
