"""A run's private output log, line by line."""

from collections.abc import Iterator
from pathlib import Path


def read_log(path: Path, node: str | None = None) -> Iterator[str]:
    """The lines of an output log, without their ends; none where nothing was written.

    Args:
        path: The file.
        node: Only lines of this node; a line is its time, its source and its text.
    """
    try:
        file = path.open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            text = line.rstrip("\n")
            if node is None or source_of(text) == node:
                yield text


def source_of(line: str) -> str:
    """Which node or logger wrote a line.

    ``2026-01-02T03:04:05.678Z docs/inspect WARNING: text``: a logger's level stands behind the node.
    """
    return line.partition(" ")[2].partition(":")[0].partition(" ")[0]
