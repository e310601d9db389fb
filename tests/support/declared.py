"""Types of every kind that values are declared with."""

import re
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Generic, Literal, NotRequired, TypedDict, TypeVar

import attrs

T = TypeVar("T")


class Colour(Enum):
    """Named colours."""

    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    """Numbered levels."""

    LOW = 1
    HIGH = 2


@attrs.frozen
class Point:
    """A class of attrs."""

    x: int
    y: float = 0.0


@dataclass
class Line:
    """A dataclass that holds another class."""

    ends: tuple[Point, Point]
    tags: list[str] = field(default_factory=list)


class Row(TypedDict):
    """A typed dictionary."""

    name: str
    size: NotRequired[int]


@attrs.frozen
class Tree:
    """A class that contains itself."""

    name: str
    children: "list[Tree]" = attrs.field(factory=list)


@attrs.frozen
class Box(Generic[T]):
    """A generic class."""

    item: T


@attrs.frozen
class Cat:
    """One of two classes told apart by a fixed value."""

    kind: Literal["cat"]
    lives: int = 9


@attrs.frozen
class Dog:
    """The other one."""

    kind: Literal["dog"]
    lives: int = 1


@attrs.frozen
class Positive:
    """A class that refuses values."""

    n: int = attrs.field()

    @n.validator
    def _check(self, attribute: object, value: int) -> None:
        if value < 1:
            raise ValueError(f"secret {value}")


def named(value: object) -> str:
    """Name a case the same in every process: by its text without the address that some texts end in."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))[:30]
