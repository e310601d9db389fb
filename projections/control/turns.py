"""Model turns and whether a run owns them (`turns`)."""

from attrs import frozen


@frozen(kw_only=True)
class TurnRow:
    """One model turn."""

    turn: str
    message: str
    run_id: str | None
    session: str
    epoch: str
    #: ``open``, ``ended``, ``lost``.
    state: str
    stop_reason: str | None
    entry: str | None
    digest: str | None
    length: int | None
    since: int
