"""The processes that held the store (`hosts`)."""

from attrs import frozen


@frozen(kw_only=True)
class HostRow:
    """One epoch of the one process that holds the store."""

    epoch: str
    version: str
    boot: str
    namespace: str
    pid: int
    start: int
    started_at: int
    stopped_at: int | None
