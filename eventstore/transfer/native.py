"""The native export of a log: verifiable offline, and importable where it is whole and has its values."""

from collections.abc import Iterator, Sequence
from itertools import islice

from sqlalchemy import select

from runwright.eventstore.chain import genesis
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.log import LogReader
from runwright.eventstore.table import events
from runwright.eventstore.transfer.jsonl import ExportHead, write_event, write_head
from runwright.eventstore.transfer.selection import Extent, Progress, Selection, resolve, selected

#: How many neighbours are looked up at once; below SQLite's oldest bound on parameters.
_LOOKUP = 500


def export_native(
    reader: LogReader,
    *,
    selection: Selection | None = None,
    with_values: bool = False,
    progress: Progress | None = None,
) -> Iterator[bytes]:
    """Write the log, or a part of it, as native lines.

    The same log gives the same bytes. The export ends at the head that the log has when the first line is
    taken.

    Args:
        reader: The log.
        selection: What to take; without it the whole log.
        with_values: Whether salts and private values go along; without them the export still verifies, but
            cannot be imported.
        progress: Called now and then with the position reached and the last one.

    Yields:
        The lines, each with its end.

    Raises:
        NothingToExport: The log holds no such event.
    """
    extent = resolve(reader, selection or Selection())
    previous = _hash_before(reader, extent)
    yield write_head(
        ExportHead(
            log_id=reader.log_id,
            first=extent.first,
            last=extent.last,
            previous=previous,
            complete=extent.complete,
        )
    )
    stored = selected(reader, extent, progress)
    if extent.complete:
        for event in stored:
            yield write_event(event, with_values=with_values)
        return
    while batch := list(islice(stored, _LOOKUP)):
        hashes = _hashes_before(reader, batch)
        for event in batch:
            before = hashes.get(event.position - 1, previous)
            yield write_event(event, with_values=with_values, previous=before)


def _hash_before(reader: LogReader, extent: Extent) -> bytes:
    if extent.first == 1:
        return genesis(reader.log_id)
    ((previous,),) = reader.rows(select(events.c.hash).where(events.c.position == extent.first - 1))
    return bytes(previous)


def _hashes_before(reader: LogReader, batch: Sequence[RecordedEvent]) -> dict[int, bytes]:
    """Answer the hash of each event that stands just before one of the batch.

    Only the very first event of a log has none; it follows from the log's ID.
    """
    known = {event.position: event.hash for event in batch}
    wanted = [event.position - 1 for event in batch if event.position - 1 not in known]
    rows = reader.rows(select(events.c.position, events.c.hash).where(events.c.position.in_(wanted)))
    return known | {position: bytes(digest) for position, digest in rows}
