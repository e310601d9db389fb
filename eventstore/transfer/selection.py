"""Which events an export takes: the whole log, a range of positions, or some streams whole."""

from collections.abc import Callable, Iterator

from attrs import frozen
from sqlalchemy import func, select

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.log import LogReader
from runwright.eventstore.table import events
from runwright.eventstore.transfer.errors import NothingToExport

#: Called now and then with the position reached and the last one of the export.
Progress = Callable[[int, int], None]

_PROGRESS_EVERY = 1000


@frozen(kw_only=True)
class Selection:
    """What to export; without arguments the whole log.

    Attributes:
        streams: Whole streams by name, or ``None`` for all; not together with a range.
        first: The first position of a range.
        last: The last position of a range, or ``None`` for the head.
    """

    streams: frozenset[str] | None = None
    first: int = 1
    last: int | None = None


@frozen(kw_only=True)
class Extent:
    """A selection as it stands in one log at one moment, so that an export does not grow while it runs.

    Attributes:
        first: The position of the first selected event.
        last: The position of the last one.
        complete: Whether that is the whole log.
        streams: The selected streams, or ``None`` for all.
    """

    first: int
    last: int
    complete: bool
    streams: frozenset[str] | None = None


def resolve(reader: LogReader, selection: Selection) -> Extent:
    """Fix a selection to the events that the log holds now.

    Raises:
        NothingToExport: The log holds no such event.
    """
    head = reader.head().position
    if selection.streams is None:
        first, last = selection.first, head if selection.last is None else min(selection.last, head)
        if not 1 <= first <= last:
            raise NothingToExport
        return Extent(first=first, last=last, complete=(first, last) == (1, head))
    bounds = select(func.min(events.c.position), func.max(events.c.position)).where(
        events.c.stream.in_(sorted(selection.streams)), events.c.position <= head
    )
    ((lowest, highest),) = reader.rows(bounds)
    if lowest is None:
        raise NothingToExport
    return Extent(first=lowest, last=highest, complete=False, streams=selection.streams)


def selected(reader: LogReader, extent: Extent, progress: Progress | None = None) -> Iterator[RecordedEvent]:
    """Answer the events of an extent in the order of the log, in bounded memory."""
    stored = reader.read_all(extent.first - 1, streams=extent.streams, upto=extent.last)
    for count, event in enumerate(stored, start=1):
        yield event
        if progress is not None and (count % _PROGRESS_EVERY == 0 or event.position == extent.last):
            progress(event.position, extent.last)
