"""What can be said of an effect whose end nobody saw."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from typing import Generic, Literal, TypeAlias, TypeVar

from attrs import frozen

T = TypeVar("T")

#: What holds after an uncertain end: a person decides, or it is simply done again.
Recovery: TypeAlias = Literal["manual", "idempotent"]


@frozen
class Present(Generic[T]):
    """The effect happened; ``result`` is the node's output."""

    result: T | None = None


@frozen
class Absent:
    """The effect did not happen."""


@frozen
class Unclear:
    """Nobody can tell whether the effect happened: a person has to."""

    reason: str = ""


Observation: TypeAlias = Present[T] | Absent | Unclear


class Uncertain(Exception):
    """Raise it in an effect that may have happened."""
