"""Events on their way out: pages that fit into a frame, from any position on."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from attrs import frozen

from runwright.engine.host.serving.bounds import MOST_SCANNED
from runwright.engine.host.serving.fitting import size_of
from runwright.engine.host.serving.values import field_of, value_of
from runwright.engine.protocol.limits import MOST_ITEMS, PAGE_BYTES
from runwright.engine.reading.times import rfc3339_us
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.event import body_fields
from runwright.eventstore.log import LogReader
from runwright.eventstore.values import Json, JsonObject, decode

#: Bytes of a value that stands in a page of events itself.
_INLINE: Final = 4 * 1024


@frozen(kw_only=True)
class Wanted:
    """Which events somebody asks for.

    Attributes:
        run_id: Only those of this run.
        types: Only types that one of these patterns fits.
        values: Whether private values come along.
        limit: How many at most in a page.
    """

    run_id: str | None = None
    types: Sequence[str] = ()
    values: bool = False
    limit: int = MOST_ITEMS

    def fits(self, recorded: RecordedEvent) -> bool:
        """Whether an event is among them, its run set aside."""
        return not self.types or any(fnmatchcase(recorded.type, each) for each in self.types)


def events_page(log: LogReader, wanted: Wanted, after: int) -> JsonObject:
    """A page of events after a position; it says where to go on, and whether there is more already."""
    head = log.head().position
    items: list[Json] = []
    place, left = after, PAGE_BYTES
    for scanned, recorded in enumerate(_scan(log, wanted, after, head), 1):
        if wanted.fits(recorded):
            item = event_item(recorded, values=wanted.values)
            left -= size_of(item)
            if items and left < 0:
                return {"items": items, "next": place, "more": True}
            items.append(item)
        place = recorded.position
        if len(items) >= wanted.limit or left <= 0 or scanned >= MOST_SCANNED:
            return {"items": items, "next": place, "more": place < head}
    return {"items": items, "next": max(place, head), "more": False}


def event_item(recorded: RecordedEvent, *, values: bool) -> JsonObject:
    """One event as it travels."""
    found: dict[str, Json] = {}
    if values and recorded.body is not None:
        for name in sorted(body_fields(type(recorded.event))):
            value = value_of(recorded.position, name, field_of(recorded, name), room=_INLINE)
            if value is not None:
                found[name] = value
    return {
        "position": recorded.position,
        "stream": recorded.stream,
        "version": recorded.version,
        "type": recorded.type,
        "at": rfc3339_us(recorded.at),
        "actor": recorded.actor,
        "generation": recorded.generation,
        "command": recorded.command,
        "data": decode(recorded.data),
        "hash": recorded.hash.hex(),
        "erased": recorded.erased,
        "values": found,
    }


def _scan(log: LogReader, wanted: Wanted, after: int, head: int) -> Iterator[RecordedEvent]:
    streams = None if wanted.run_id is None else {f"run/{wanted.run_id}"}
    return log.read_all(after, streams=streams, upto=head)
