"""Events about the one process that holds the store (stream ``host``)."""

from attrs import frozen

from runwright.eventstore.events.event import Event, ProcessIdentity, recorded


@recorded("host.started")
@frozen(kw_only=True)
class HostStarted(Event):
    """A process took the store and a new epoch."""

    epoch: str
    version: str
    process: ProcessIdentity


@recorded("host.stopped")
@frozen(kw_only=True)
class HostStopped(Event):
    """The holder gave the store back in good order."""

    epoch: str
