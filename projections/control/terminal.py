"""How runs ended, as typed facts (`terminal`)."""

from attrs import frozen


@frozen(kw_only=True)
class TerminalRow:
    """One run's end; ``output``, ``error`` and ``instructions`` are positions of events with the values."""

    run_id: str
    #: ``completed``, ``failed``, ``timed_out``, ``cancelled``.
    outcome: str
    code: str | None
    phase: str | None
    message: str | None
    finished_at: int
    output: int | None
    error: int | None
    instructions: int | None
    fingerprint: str | None
    #: ``none``, ``launch_failure``, ``terminal``.
    message_due: str
    #: ``none``, ``pending``, ``prepared``, ``failed``, ``abandoned``.
    presentation: str
    attempts: int
    since: int
