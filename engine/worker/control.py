"""What a host and a fork server say to each other."""

from typing import Final, TypeAlias

from attrs import frozen

from runwright.engine.wire.records import Tagged
from runwright.eventstore.events.event import ProcessIdentity


@frozen(kw_only=True)
class Spawn:
    """Give the channel that comes with this to a child."""

    id: int


@frozen(kw_only=True)
class FindOrphans:
    """Look for what is left of an ended child: processes whose parents are gone."""

    id: int
    pid: int


@frozen(kw_only=True)
class Hello:
    """The fork server is there.

    Attributes:
        version: Its runwright's.
        process: Its own.
    """

    version: str
    process: ProcessIdentity


@frozen(kw_only=True)
class Spawned:
    """A child has the channel; ``process`` is ``None`` where the system gave no process."""

    id: int
    process: ProcessIdentity | None


@frozen(kw_only=True)
class Exited:
    """A child that had a channel ended.

    Attributes:
        process: Which.
        status: Its exit code; negative: the number of the signal that killed it.
        alone: Whether nothing that it started is left: whatever loses its parent comes to the fork server, and
            nobody had come.
    """

    process: ProcessIdentity
    status: int
    alone: bool = False


@frozen(kw_only=True)
class Orphans:
    """What is left of an ended child now."""

    id: int
    processes: tuple[ProcessIdentity, ...]


ToServer: TypeAlias = Spawn | FindOrphans
FromServer: TypeAlias = Hello | Spawned | Exited | Orphans

TO_SERVER: Final[Tagged[ToServer]] = Tagged({"spawn": Spawn, "find_orphans": FindOrphans})
FROM_SERVER: Final[Tagged[FromServer]] = Tagged(
    {"hello": Hello, "spawned": Spawned, "exited": Exited, "orphans": Orphans}
)
