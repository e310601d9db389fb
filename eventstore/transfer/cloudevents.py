"""The log as CloudEvents 1.0 JSON Lines, for tools that know that format and not ours."""

from collections.abc import Iterator

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.log import LogReader
from runwright.eventstore.transfer.selection import Progress, Selection, resolve, selected
from runwright.eventstore.transfer.stamp import rfc3339
from runwright.eventstore.transfer.text import read_text, write_text
from runwright.eventstore.values import Json, JsonObject

#: Digits of the ``sequence`` attribute: it has to sort as text, and positions have at most 19.
_SEQUENCE_DIGITS = 19


def export_cloudevents(
    reader: LogReader,
    *,
    selection: Selection | None = None,
    with_values: bool = False,
    progress: Progress | None = None,
) -> Iterator[bytes]:
    """Write the log, or a part of it, as one CloudEvent a line; the same log gives the same bytes.

    Args:
        reader: The log.
        selection: What to take; without it the whole log.
        with_values: Whether private values go along.
        progress: Called now and then with the position reached and the last one.

    Yields:
        The lines, each with its end.

    Raises:
        NothingToExport: The log holds no such event.
    """
    extent = resolve(reader, selection or Selection())
    for event in selected(reader, extent, progress):
        yield (write_text(cloudevent(event, reader.log_id, with_values=with_values)) + "\n").encode()


def cloudevent(event: RecordedEvent, log_id: str, *, with_values: bool = False) -> JsonObject:
    """Turn an event into a CloudEvent.

    ``source`` and ``id`` together name the event for good. The columns that CloudEvents has no word for are
    extension attributes; what is absent is left out, as the specification asks.

    Args:
        event: The event.
        log_id: The ID of its log.
        with_values: Whether its body goes along.
    """
    body: Json = read_text(event.body) if with_values and event.body is not None else None
    attributes: JsonObject = {
        "specversion": "1.0",
        "id": str(event.position),
        "source": f"urn:runwright:log:{log_id}",
        "type": f"runwright.{event.type}",
        "subject": event.stream,
        "time": rfc3339(event.at),
        "datacontenttype": "application/json",
        "sequence": f"{event.position:0{_SEQUENCE_DIGITS}d}",
        "streamversion": event.version,
        "actor": event.actor,
        "hash": event.hash.hex(),
        "data": {"body": body, "data": read_text(event.data)},
    }
    if event.generation is not None:
        attributes["generation"] = event.generation
    if event.command is not None:
        attributes["command"] = event.command
    return attributes
