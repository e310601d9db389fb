"""Processes that workers started and that must be found again (`processes`)."""

from attrs import frozen


@frozen(kw_only=True)
class ProcessRow:
    """One registered process; a row exists only while it may live."""

    boot: str
    namespace: str
    pid: int
    start: int
    run_id: str
    worker: str
