"""How often each node was visited and how the last visit stands (`visits`)."""

from attrs import frozen


@frozen(kw_only=True)
class VisitRow:
    """One node path of one run.

    ``finished`` is the position of the last `NodeFinished`; ``output`` that of the last accepted output, or
    ``None`` when the last visit did not complete. ``invocation`` counts entries of the mount around it.
    """

    run_id: str
    path: str
    kind: str
    visits: int
    invocation: int
    invocation_visits: int
    open: bool
    attempt: int
    deadline: int | None
    started_at: int | None
    finished_at: int | None
    outcome: str | None
    code: str | None
    finished: int | None
    output: int | None
