"""What the scheduler may do with each run (`queue`)."""

from attrs import frozen


@frozen(kw_only=True)
class QueueRow:
    """One run's place in the queue and its claim; the lease itself lives with the holder.

    ``since`` (UTC microseconds) tells when the state or park reason was taken; ``order`` is the position of the
    event that made the run eligible, so that the oldest goes first.
    """

    run_id: str
    session: str | None
    project: str | None
    #: ``queued``, ``starting``, ``running``, ``parked``, ``done``, ``failed``, ``cancelled``.
    state: str
    eligible: bool
    cause: str | None
    order: int
    reason: str | None
    code: str | None
    detail: str | None
    since: int
    owner: str | None
    token_hash: str | None
    generation: int
    #: How often a launch that never started was put back.
    requeues: int
