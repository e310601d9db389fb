"""Private values on their way out: inline where they are small, else by position and field, in verified parts."""

import base64
import threading
from collections import OrderedDict
from hashlib import sha256
from typing import Final

from attrs import frozen

from runwright.engine.errors import NotFound
from runwright.engine.protocol.answers import ContentPart, Value
from runwright.engine.protocol.fields import document
from runwright.engine.protocol.limits import INLINE, PART
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.event import TEXT, Content
from runwright.eventstore.log import LogReader
from runwright.eventstore.values import Json, JsonObject, encode

#: Values whose bytes are kept while their parts are read; each has 16 MiB at most.
_KEPT: Final = 2


def bytes_of(content: Content) -> bytes:
    """The bytes that a value's length and digest are over: its canonical JSON, or the text itself."""
    if content.media == TEXT and isinstance(content.value, str):
        return content.value.encode()
    return encode(content.value).encode()


def value_of(position: int | None, field: str, content: Content | None, *, room: int = INLINE) -> JsonObject | None:
    """A value as an answer holds it.

    Args:
        position: The position of its event.
        field: The field of the event.
        content: The value; ``None`` where there is none, or it was erased.
        room: The most bytes of one that stands in the answer itself, as JSON: a text may take six times its own there.
    """
    if position is None or content is None:
        return None
    raw = bytes_of(content)
    inline = len(raw) <= room and len(encode(content.value).encode()) <= room
    value = Value(
        position=position,
        field=field,
        media=content.media,
        bytes=len(raw),
        sha256=sha256(raw).hexdigest(),
        inline=inline,
        value=content.value if inline else None,
    )
    return document(value)


def field_of(recorded: RecordedEvent | None, field: str) -> Content | None:
    """A private field of an event."""
    found = None if recorded is None else getattr(recorded.event, field, None)
    return found if isinstance(found, Content) else None


def json_value(position: int, field: str, value: Json) -> JsonObject:
    """A JSON value that stands at a position, as an answer holds it."""
    found = value_of(position, field, Content.json(value))
    assert found is not None, "it has a position and a content"
    return found


@frozen
class _Whole:
    media: str
    raw: bytes
    digest: str


class Contents:
    """Answers parts of values; keeps the last few, because parts are asked for one after another.

    Args:
        log: The log.
    """

    def __init__(self, log: LogReader) -> None:
        self._log = log
        self._kept: OrderedDict[tuple[int, str], _Whole] = OrderedDict()
        self._lock = threading.Lock()

    def part(self, position: int, field: str, part: int) -> JsonObject:
        """A part of a value.

        Raises:
            NotFound: There is no such value, it was erased, or it has no such part.
        """
        whole = self._whole(position, field)
        parts = max(1, -(-len(whole.raw) // PART))
        if part >= parts:
            raise NotFound("part", f"{part} of {field} at {position}")
        data = whole.raw[part * PART : (part + 1) * PART]
        found = ContentPart(
            media=whole.media,
            bytes=len(whole.raw),
            sha256=whole.digest,
            part=part,
            parts=parts,
            data=base64.b64encode(data).decode("ascii"),
        )
        return document(found)

    def _whole(self, position: int, field: str) -> _Whole:
        recorded = self._log.event(position)
        content = field_of(recorded, field)
        key = (position, field)
        if content is None:
            # Also what was read a moment ago: it may have been erased since.
            with self._lock:
                self._kept.pop(key, None)
            raise NotFound("value", f"{field} at {position}")
        with self._lock:
            kept = self._kept.get(key)
        if kept is None:
            raw = bytes_of(content)
            kept = _Whole(content.media, raw, sha256(raw).hexdigest())
            with self._lock:
                self._kept[key] = kept
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return kept
