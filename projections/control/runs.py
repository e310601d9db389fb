"""How far each run is (`runs`)."""

from attrs import frozen


@frozen(kw_only=True)
class RunRow:
    """One run.

    Times are UTC microseconds; ``input`` and ``output`` are positions of the events that hold the values.
    ``agents`` and ``pass_env`` are canonical JSON texts.
    """

    run_id: str
    workflow: str
    reference: str
    sources: str | None
    definition: str
    session: str | None
    project: str | None
    cwd: str | None
    interpreter: str | None
    agents: str
    pass_env: str
    kind: str
    cause: str | None
    depth: int
    parent: str | None
    root: str
    restart_number: int
    parent_fingerprint: str | None
    request: str | None
    at: str | None
    #: ``queued``, ``running``, ``waiting``, ``completed``, ``continued``, ``failed``, ``timed_out``, ``cancelled``.
    status: str
    #: The node of the last `NodeStarted`, with its visit and attempt.
    node: str | None
    visit: int
    attempt: int
    step_base: int
    steps: int
    max_steps: int
    timeout: int | None
    paused: bool
    pause_requested: bool
    progress: int
    #: Workers launched since ``progress`` last changed.
    launches: int
    created_at: int
    started_at: int | None
    finished_at: int | None
    code: str | None
    message: str | None
    continued_by: str | None
    input: int | None
    input_erased: bool
    output: int | None
