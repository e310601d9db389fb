"""How the last visit of a node ended, as its workflow sees it."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from datetime import datetime
from typing import Generic, Literal, TypeVar

from attrs import frozen

T = TypeVar("T")


@frozen
class NodeError:
    """Why a visit failed: a stable code and a message."""

    code: str
    message: str


@frozen
class NodeResult(Generic[T]):
    """How the last visit of a node ended."""

    outcome: Literal["completed", "failed", "timed_out", "cancelled"]
    output: T | None
    error: NodeError | None
    started_at: datetime
    finished_at: datetime
