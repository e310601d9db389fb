"""Workers: one launch of one generation each (`workers`)."""

from attrs import frozen


@frozen(kw_only=True)
class WorkerRow:
    """One worker epoch, with the identity of its process."""

    worker: str
    run_id: str
    generation: int
    progress: int
    boot: str
    namespace: str
    pid: int
    start: int
    #: ``launched``, ``ready``, ``exited``.
    state: str
    outcome: str | None
    phase: str | None
    code: str | None
    launched_at: int
    exited_at: int | None
