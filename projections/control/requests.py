"""Questions that runs wait on (`requests`)."""

from attrs import frozen


@frozen(kw_only=True)
class RequestRow:
    """One request.

    ``opened`` is the position of the event with its prompt and contract, ``candidate`` that of the last
    submission, ``revision`` grows with each event about it.
    """

    request: str
    run_id: str
    kind: str
    path: str
    visit: int
    attempt: int
    session: str | None
    #: ``open``, ``validating``, ``accepted``, ``closed``.
    state: str
    cause: str | None
    deadline: int | None
    protected: bool
    digest: str | None
    revision: int
    refused: int
    unproductive: int
    submission: str | None
    key: str | None
    source: str | None
    opened: int
    candidate: int | None
    rejection: int | None
    opened_at: int
