"""Entries into mounted children (`mounts`)."""

from attrs import frozen


@frozen(kw_only=True)
class MountRow:
    """One mount path of one run and its current or last invocation."""

    run_id: str
    path: str
    invocation: int
    inside: bool
    exit: str | None
    outcome: str | None
    step_base: int
    input: int | None
    output: int | None
