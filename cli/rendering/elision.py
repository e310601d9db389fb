"""Which rows of a long list are shown where there is not room for all: the rest stands as counted stretches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from attrs import frozen

T = TypeVar("T")


@frozen
class Stretch:
    """Rows that are not shown, from ``begin`` to before ``end``."""

    begin: int
    end: int


def elide(count: int, order: Iterable[int], room: int) -> list[int | Stretch]:
    """Choose the rows that are shown.

    Args:
        count: How many rows there are.
        order: Row numbers, the most important first.
        room: How many lines there are, each row and each stretch taking one.

    Returns:
        What stands on each line, from the first to the last: a row's number, or a stretch that is left out.
    """
    if count <= room:
        return list(range(count))
    kept: set[int] = set()
    lines = 1
    for row in order:
        cost = 1 - _stretches_closed(row, kept, count)
        if lines + cost <= room:
            kept.add(row)
            lines += cost
        if lines >= room:
            break
    return list(_lines(kept, count))


def _stretches_closed(row: int, kept: set[int], count: int) -> int:
    """How many stretches there are less once a row is shown: 1, 0, or -1 where it cuts one in two."""
    before = row > 0 and row - 1 not in kept
    after = row + 1 < count and row + 1 not in kept
    return 1 - before - after


def _lines(kept: set[int], count: int) -> Iterator[int | Stretch]:
    row = 0
    while row < count:
        end = row
        while end < count and end not in kept:
            end += 1
        if end - row == 1:
            yield row  # a stretch of one takes as much room as the row itself
        elif end > row:
            yield Stretch(row, end)
        if end < count:
            yield end
        row = end + 1


def by_importance(rows: Sequence[T], rank: Callable[[T], int], focus: int) -> list[int]:
    """Order rows for `elide`: by rank, then by how near they stand to the row in focus.

    Args:
        rows: All rows.
        rank: The smaller, the more important.
        focus: The number of the row that people look at.
    """
    return sorted(range(len(rows)), key=lambda row: (rank(rows[row]), abs(row - focus), row))
