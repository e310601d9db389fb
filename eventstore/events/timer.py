"""Events about what is due when (stream ``run/<run ID>``)."""

from attrs import frozen

from runwright.eventstore.events.event import Event, recorded


@recorded("timer.set")
@frozen(kw_only=True)
class TimerSet(Event):
    """A timer of one kind was set for the run; ``due`` is UTC microseconds.

    Attributes:
        kind: ``wait``, ``retry``, ``deadline``, ``run`` or ``delivery``.
        due: When it fires.
        absolute: Whether the wall clock decides while a host lives (a wait until a datetime).
    """

    kind: str
    due: int
    absolute: bool = False


@recorded("timer.fired")
@frozen(kw_only=True)
class TimerFired(Event):
    """The timer fell due."""

    kind: str


@recorded("timer.cleared")
@frozen(kw_only=True)
class TimerCleared(Event):
    """The timer is not needed any more."""

    kind: str
