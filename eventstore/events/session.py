"""Events about conversations (stream ``session/<id>``)."""

from attrs import frozen

from runwright.eventstore.events.event import Event, recorded


@recorded("session.attached")
@frozen(kw_only=True)
class SessionAttached(Event):
    """A coordinator attached, and its epoch fences the one before; or one that was missed came back in its own."""

    epoch: str
    agent: str


@recorded("session.detached")
@frozen(kw_only=True)
class SessionDetached(Event):
    """The coordinator of that epoch left, or its host misses it while a turn of a run is open."""

    epoch: str


@recorded("session.person_spoke")
@frozen(kw_only=True)
class SessionPersonSpoke(Event):
    """A person took a turn, which sets back the count of automatic wake-ups."""

    epoch: str
