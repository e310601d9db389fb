"""Events about questions that a run waits on (stream ``run/<run ID>``)."""

from attrs import frozen

from runwright.eventstore.events.event import Content, Event, private, recorded


@recorded("request.opened")
@frozen(kw_only=True)
class RequestOpened(Event):
    """A durable question was asked: one run, node path, visit and attempt.

    Attributes:
        request: The request ID.
        kind: ``agent``, ``assistant``, ``decision`` or ``checkpoint``.
        path: The node's full path.
        visit: The visit.
        attempt: The attempt.
        session: The conversation it is put to, or ``None`` for a headless executor or a person.
        deadline: When it closes (UTC microseconds), or ``None``.
        protected: Whether only a person may answer.
        digest: Digest of what a decision shows, in hex.
        limit: Microseconds that a session has for it once its message is sent; then ``deadline`` is ``None``.
    """

    request: str
    kind: str
    path: str
    visit: int
    attempt: int
    session: str | None = None
    deadline: int | None = None
    protected: bool = False
    digest: str | None = None
    limit: int | None = None
    prompt: Content | None = private()
    contract: Content | None = private()
    subject: Content | None = private()
    presentation: Content | None = private()


@recorded("request.submitted")
@frozen(kw_only=True)
class RequestSubmitted(Event):
    """A candidate answer came in and is being checked.

    Attributes:
        request: The request.
        submission: The candidate.
        key: The fingerprint of its key.
        source: ``agent`` or ``person``.
    """

    request: str
    submission: str
    key: str
    source: str = "agent"
    candidate: Content | None = private()


@recorded("request.rejected")
@frozen(kw_only=True)
class RequestRejected(Event):
    """A candidate was refused; the request is open again."""

    request: str
    submission: str
    actor: str
    code: str
    reason: Content | None = private()


@recorded("request.refused")
@frozen(kw_only=True)
class RequestRefused(Event):
    """An answer to a decision was refused before it became a candidate."""

    request: str
    submission: str
    actor: str
    code: str
    reason: Content | None = private()


@recorded("request.accepted")
@frozen(kw_only=True)
class RequestAccepted(Event):
    """A candidate became the answer; ``source`` is ``agent``, ``person`` or ``policy``.

    ``session`` is the one that answered: it counts what wakes it between two answers.
    """

    request: str
    submission: str
    source: str
    session: str | None = None


@recorded("request.closed")
@frozen(kw_only=True)
class RequestClosed(Event):
    """A request ended without an answer; ``cause`` is ``timed_out``, ``cancelled`` or ``failed``."""

    request: str
    cause: str
