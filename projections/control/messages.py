"""Content that has to reach a session (`messages`)."""

from attrs import frozen


@frozen(kw_only=True)
class MessageRow:
    """One message; ``content`` is the position of the event that holds it."""

    message: str
    run_id: str
    session: str
    order: int
    kind: str
    source: str
    starts_turn: bool
    reason: str
    #: ``pending``, ``sent``, ``cancelled``.
    state: str
    deliveries: int
    epoch: str | None
    entry: str | None
    content: int
    created_at: int
    updated_at: int
