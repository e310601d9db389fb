"""Events about content that has to reach a session (stream ``run/<run ID>``)."""

from attrs import frozen

from runwright.eventstore.events.event import Content, Event, private, recorded


@recorded("message.queued")
@frozen(kw_only=True)
class MessageQueued(Event):
    """A message waits to reach its session.

    Attributes:
        message: The message ID.
        kind: ``step``, ``decision``, ``notification``, ``terminal``, ``launch_failure`` or ``follow_up``.
        session: The session it is for.
        order: Its place among the session's messages.
        source: The request it asks for, or the run it tells of.
        starts_turn: Whether its delivery starts a model turn.
        reason: ``initial``, ``reminder`` or ``resumed``.
        content: Its facts (JSON).
        text: What the model reads (text).
    """

    message: str
    kind: str
    session: str
    order: int
    source: str
    starts_turn: bool
    reason: str = "initial"
    content: Content | None = private()
    text: Content | None = private()


@recorded("message.delivered")
@frozen(kw_only=True)
class MessageDelivered(Event):
    """A frame that hands the message out is about to leave the host, for the ``number``-th time.

    ``session`` is that of the message, ``request`` the one it asks for, and ``starts_turn`` says whether this delivery
    does: session and request count what wakes a model.
    """

    message: str
    session: str
    number: int
    epoch: str
    starts_turn: bool
    request: str | None = None


@recorded("message.sent")
@frozen(kw_only=True)
class MessageSent(Event):
    """The session showed the message on its active branch."""

    message: str
    epoch: str
    entry: str


@recorded("message.cancelled")
@frozen(kw_only=True)
class MessageCancelled(Event):
    """The message is not to be sent any more."""

    message: str
    cause: str
