"""The log as CSV, for spreadsheets; imports are absolute, so ``csv`` below is the standard library's."""

import csv
import io
from collections.abc import Iterator

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.log import LogReader
from runwright.eventstore.transfer.selection import Progress, Selection, resolve, selected
from runwright.eventstore.transfer.stamp import rfc3339

COLUMNS = (
    "position", "stream", "version", "type", "at", "actor", "generation", "command", "data", "body", "digest", "hash",
)  # fmt: skip

#: A spreadsheet takes a cell that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export_csv(
    reader: LogReader,
    *,
    selection: Selection | None = None,
    with_values: bool = False,
    progress: Progress | None = None,
) -> Iterator[bytes]:
    """Write the log, or a part of it, as RFC 4180 CSV; the same log gives the same bytes.

    Args:
        reader: The log.
        selection: What to take; without it the whole log.
        with_values: Whether private values go along.
        progress: Called now and then with the position reached and the last one.

    Yields:
        The header line, then one record for each event.

    Raises:
        NothingToExport: The log holds no such event.
    """
    extent = resolve(reader, selection or Selection())
    yield _record(COLUMNS)
    for event in selected(reader, extent, progress):
        yield _record(_cells(event, with_values=with_values))


def _cells(event: RecordedEvent, *, with_values: bool) -> tuple[object, ...]:
    return (
        event.position,
        _cell(event.stream),
        event.version,
        _cell(event.type),
        rfc3339(event.at),
        _cell(event.actor),
        event.generation,
        None if event.command is None else _cell(event.command),
        event.data,
        event.body if with_values else None,
        None if event.digest is None else event.digest.hex(),
        event.hash.hex(),
    )


def _cell(text: str) -> str:
    """Keep a text that a client chose from being run as a formula by the program that opens the file."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _record(cells: tuple[object, ...]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode()
