"""Events about model turns (stream ``run/<run ID>``)."""

from attrs import frozen

from runwright.eventstore.events.event import Content, Event, private, recorded


@recorded("turn.started")
@frozen(kw_only=True)
class TurnStarted(Event):
    """A model turn began for a message; ``run`` is null where the run does not own it."""

    turn: str
    message: str
    run: str | None
    session: str
    epoch: str


@recorded("turn.ended")
@frozen(kw_only=True)
class TurnEnded(Event):
    """A model turn ended: ``completed``, ``aborted`` or ``error``.

    ``request`` is the one that its message asked for, which counts errors in a row.
    """

    turn: str
    stop_reason: str
    entry: str | None = None
    digest: str | None = None
    length: int | None = None
    request: str | None = None
    evidence: Content | None = private()


@recorded("turn.lost")
@frozen(kw_only=True)
class TurnLost(Event):
    """A model turn's end will never be known."""

    turn: str
    cause: str
