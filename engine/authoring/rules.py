"""The rules of a workflow as they were written."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from attrs import frozen

from runwright.engine.authoring.nodes import MountExit, Node, Place
from runwright.engine.authoring.origin import Origin

AnySource: TypeAlias = Node[..., Any, Any] | MountExit[Any]


@frozen
class Entry:
    """Where a run begins."""

    place: Place
    origin: Origin


@frozen
class Then:
    """One place after a source, always."""

    source: AnySource
    to: Place
    origin: Origin


@frozen
class Switch:
    """A place after a source, by a value in its output."""

    source: AnySource
    cases: Mapping[str | int | bool | None, Place]
    on: str
    default: Place | None
    origin: Origin


@frozen
class Catch:
    """A place after a bad outcome."""

    place: Place
    to: Place
    on: Sequence[str]
    origin: Origin


@frozen
class Limit:
    """How often a place is entered in one invocation, and where further entries go."""

    place: Place
    visits: int
    to: Place
    origin: Origin


Rule: TypeAlias = Entry | Then | Switch | Catch | Limit
