"""The four answers that every transition gives (law 4)."""

from collections.abc import Mapping
from typing import Generic, TypeAlias, TypeVar

from attrs import field, frozen

from runwright.eventstore.values import Json

V = TypeVar("V")


@frozen
class Applied(Generic[V]):
    """This call made the change.

    Attributes:
        value: What the operation answers.
        revision: The version of the run's stream after it.
    """

    value: V
    revision: int


@frozen
class Adopted(Generic[V]):
    """An equal change was there already; nothing was written."""

    value: V
    revision: int


@frozen
class Conflict:
    """Another fact stands in the way.

    Attributes:
        code: A stable code, ``claim_lost`` for one.
        evidence: The safe facts that show it; never a private value.
    """

    code: str
    evidence: Mapping[str, Json] = field(factory=dict)


@frozen
class RecoveryRequired:
    """The saved state needs an operator or a recovery step first."""

    reason: str
    evidence: Mapping[str, Json] = field(factory=dict)


Result: TypeAlias = Applied[V] | Adopted[V] | Conflict | RecoveryRequired
