"""The rules of a workflow as they were written."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import field, frozen

from runwright.engine.authoring.declaration import listed
from runwright.engine.authoring.nodes import MountExit, Node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runwright.engine.authoring.nodes import Place
    from runwright.engine.authoring.origin import Origin

AnySource: TypeAlias = Node[..., Any, Any] | MountExit[Any]


@frozen(eq=False)
class Entry:
    """Where a run begins."""

    place: Place
    origin: Origin


@frozen(eq=False)
class Then:
    """One place after a source, always."""

    source: AnySource
    to: Place
    origin: Origin


@frozen(eq=False)
class Switch:
    """A place after a source, by a value in its output."""

    source: AnySource
    cases: Mapping[str | int | bool | None, Place]
    on: str
    default: Place | None
    origin: Origin


@frozen(eq=False)
class Catch:
    """A place after a bad outcome."""

    place: Place
    to: Place
    on: Sequence[str] = field(converter=listed)
    origin: Origin


@frozen(eq=False)
class Limit:
    """How often a place is entered in one invocation, and where further entries go."""

    place: Place
    visits: int
    to: Place
    origin: Origin


Rule: TypeAlias = Entry | Then | Switch | Catch | Limit
