"""Conversations and their coordinators (`sessions`)."""

from attrs import frozen


@frozen(kw_only=True)
class SessionRow:
    """One conversation: its coordinator's epoch, and automatic wake-ups since a person's turn."""

    session: str
    epoch: str
    agent: str
    attached: bool
    wake_ups: int
    since: int
