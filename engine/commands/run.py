"""What a run worker is told: one of four things, never inferred from anything else."""

from typing import TypeAlias

from attrs import frozen


@frozen(kw_only=True)
class Start:
    """Begin a queued root run at its first node."""

    run_id: str


@frozen(kw_only=True)
class Resume:
    """Carry the same run on at its saved node, visit and attempt."""

    run_id: str


@frozen(kw_only=True)
class Continue:
    """Carry a parent's accepted checkpoint on in this child run, along the rule of ``node``, the checkpoint."""

    run_id: str
    parent: str
    request: str
    node: str


@frozen(kw_only=True)
class Restart:
    """Run the root's definition and input afresh, from the first node or from ``at``."""

    run_id: str
    parent: str
    at: str | None = None


#: The commands that begin a run.
Beginning: TypeAlias = Start | Continue | Restart

RunCommand: TypeAlias = Start | Resume | Continue | Restart
