"""What a decision answers: events to append, or one of the three answers that write nothing."""

from typing import Generic, TypeAlias, TypeVar

from attrs import frozen

from runwright.engine.results import Adopted, Conflict, RecoveryRequired
from runwright.eventstore.events.event import Event

V = TypeVar("V")


@frozen
class Decided(Generic[V]):
    """The change is allowed; it is `Applied` once these events stand.

    Attributes:
        value: What the operation answers.
        events: What is appended to the run's stream, in this order.
        erases: Positions of events whose private values go in the same transaction.
    """

    value: V
    events: tuple[Event, ...]
    erases: tuple[int, ...] = ()


@frozen
class TurnedAway:
    """The answer is no, and that it was given is written down.

    Attributes:
        conflict: What the caller is answered.
        events: What is appended to the run's stream all the same.
    """

    conflict: Conflict
    events: tuple[Event, ...]


Decision: TypeAlias = Decided[V] | Adopted[V] | Conflict | RecoveryRequired


def broken(rule: str, **facts: str | int | None) -> Conflict:
    """A worker asked for what the protocol between it and its holder does not allow."""
    return Conflict("protocol_rejected", {"rule": rule, **facts})
