"""A workflow that hands values of many types on, and dies between two nodes where its input says so."""

import os
import signal
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypedDict
from uuid import UUID

from attrs import frozen

from runwright import Context, Workflow


@frozen
class Task:
    """Whether to die, and what to return."""

    die: bool = False
    mode: str = ""


class Colour(Enum):
    """An enum."""

    RED = "red"


@dataclass(frozen=True)
class Point:
    """A dataclass."""

    x: int
    y: float


class Named(TypedDict):
    """A typed dictionary."""

    name: str


@frozen
class Everything:
    """One of each."""

    pair: tuple[int, str]
    many: tuple[Decimal, ...]
    when: datetime
    span: timedelta
    colour: Colour
    point: Point
    named: Named
    place: Path
    number: UUID
    word: Literal["yes", "no"]
    maybe: Point | None
    nested: dict[str, list[tuple[Colour, Point | None]]]


shapes = Workflow("shapes", input=Task)


@shapes.compute
def make(ctx: Context[Task]) -> Everything:
    """One of each."""
    point = Point(1, 2.5)
    return Everything(
        pair=(1, "a"),
        many=(Decimal("1.10"), Decimal("2")),
        when=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        span=timedelta(days=1, microseconds=1),
        colour=Colour.RED,
        point=point,
        named={"name": "n"},
        place=Path("a/b"),
        number=UUID(int=7),
        word="yes",
        maybe=None,
        nested={"k": [(Colour.RED, point), (Colour.RED, None)]},
    )


@shapes.compute
def look(ctx: Context[Task]) -> str:
    """Say what arrived: types and values."""
    died = ctx.cwd / "died"
    if ctx.input.die and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return repr(ctx.output(make))


shapes.entry(make)
shapes.then(make, look)

plain = Workflow("plain", input=Task)


@plain.compute
def give(ctx: Context[Task]) -> Any:
    """Return what JSON does not have."""
    values: dict[str, Any] = {
        "naive": datetime(2026, 1, 2),  # noqa: DTZ001 - that is the mistake
        "aware": datetime(2026, 1, 2, tzinfo=UTC),
        "tuple": (1, 2),
        "enum": Colour.RED,
        "dataclass": Point(1, 2),
        "counter": Counter("aab"),
    }
    return values[ctx.input.mode]


@plain.compute
def read(ctx: Context[Task]) -> str:
    """Say what arrived."""
    return repr(ctx.output(give))


plain.entry(give)
plain.then(give, read)

naive = Workflow("naive", input=Task)


@naive.compute
def moment(ctx: Context[Task]) -> datetime:
    """A time that nobody knows the zone of."""
    return datetime(2026, 1, 2)  # noqa: DTZ001 - that is the mistake


naive.entry(moment)
