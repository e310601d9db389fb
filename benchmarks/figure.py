"""One figure: several runs of one measurement, each with the disk's limit measured right beside it."""

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from attrs import frozen

from benchmarks.floor import commits_per_second

Unit = Literal["commits/s", "commits long", "ms", "bytes", "ratio", "reads"]


@frozen(kw_only=True)
class Figure:
    """What was measured, how, and what the project aims at.

    Attributes:
        name: The figure's short name, for ``--only``.
        title: The figure in words.
        unit: ``commits/s``: a rate, told as a multiple of the commit rate. ``commits long``: a time in seconds, told
            as how many commits would fit into it. Everything else is told as it is.
        target: The bound, and whether smaller or larger is better.
        measure: Runs once in an empty folder and answers the value (a rate per second, or seconds for a time).
    """

    name: str
    title: str
    unit: Unit
    target: tuple[Literal["<=", ">="], float]
    measure: Callable[[Path], float]


@frozen(kw_only=True)
class Measured:
    """The runs of a figure: raw values, the commit rate beside each, and the ratios that count."""

    figure: Figure
    raw: list[float]
    floor: list[float]
    values: list[float]

    @property
    def median(self) -> float:
        """The median of the values."""
        return statistics.median(self.values)

    @property
    def meets_target(self) -> bool:
        """Whether the median keeps the bound."""
        sense, bound = self.figure.target
        return self.median <= bound if sense == "<=" else self.median >= bound


def run(figure: Figure, runs: int) -> Measured:
    """Measure a figure several times, the disk's limit before each."""
    raw: list[float] = []
    floor: list[float] = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="runwright-bench-") as name:
            folder = Path(name)
            floor.append(commits_per_second(folder))
            raw.append(figure.measure(folder))
    return Measured(
        figure=figure, raw=raw, floor=floor, values=[_value(figure, *pair) for pair in zip(raw, floor, strict=True)]
    )


def _value(figure: Figure, raw: float, floor: float) -> float:
    match figure.unit:
        case "commits/s":
            return raw / floor
        case "commits long":
            return raw * floor
        case "ms":
            return raw * 1_000
        case "bytes" | "ratio" | "reads":
            return raw
