"""Where the children of a host come from, as whoever works with them sees it."""

from typing import Protocol

from runwright.engine.host.supervision import Channel
from runwright.eventstore.events.event import ProcessIdentity


class Child(Channel, Protocol):
    """A child process, as whoever launches runs in it sees it.

    Attributes:
        identity: Its process.
        status: How it exited; ``None`` while it lives. Negative: the number of the signal that ended it.
    """

    identity: ProcessIdentity
    status: int | None

    async def end(self, grace: float) -> bool:
        """End it with everything it started: SIGTERM, ``grace`` seconds, SIGKILL; whether nothing is left of it."""
        ...

    async def exited(self) -> int | None:
        """Wait until its process exited by itself; answers its status, where somebody could tell."""
        ...

    async def ended(self) -> None:
        """Wait until nothing is left of it, however long that takes."""
        ...


class Children(Protocol):
    """Where children come from."""

    async def spawn(self, interpreter: str | None) -> Child:
        """Answer a child that waits for its first message.

        Args:
            interpreter: The Python that it runs; ``None`` for the host's own.

        Raises:
            PreflightError: That Python cannot be used.
            NoProcess: The system gives no process now.
        """
        ...
