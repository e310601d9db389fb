"""What is due when (`timers`)."""

from attrs import frozen


@frozen(kw_only=True)
class TimerRow:
    """A timer that is set; a row exists only while it is. Times are UTC microseconds."""

    run_id: str
    kind: str
    due: int
    absolute: bool
    set_at: int
