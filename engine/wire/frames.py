"""Frames: one JSON object a line, canonical as it is written, bounded, and read strictly however it arrives."""

from typing import Final

from runwright.engine.wire.errors import FrameRefused
from runwright.eventstore.errors import PayloadTooLarge, ValueRefused
from runwright.eventstore.values import JsonObject, decode, encode

#: The most bytes of a frame, its newline included.
MAX_FRAME: Final = 1024 * 1024
_NEWLINE: Final = b"\n"


def encode_frame(message: JsonObject) -> bytes:
    """Write a message as one line.

    Raises:
        ValueRefused: Something in it has no JSON form.
        PayloadTooLarge: It is larger than a frame; see `runwright.engine.wire.parts`.
    """
    # Canonical JSON holds no newline: in a text it stands as an escape.
    line = encode(message, MAX_FRAME - 1).encode()
    return line + _NEWLINE


def decode_message(raw: bytes | bytearray, limit: int) -> JsonObject:
    """Read the JSON object of a frame, or of a message that came in parts.

    Raises:
        FrameRefused: It is no UTF-8, no JSON, or no object, holds NaN or two equal keys, or is over the limit.
    """
    try:
        value = decode(raw.decode(), limit)
    except UnicodeDecodeError:
        raise FrameRefused("is no UTF-8") from None
    except PayloadTooLarge:
        raise FrameRefused(f"is over {limit:,} bytes") from None
    except ValueRefused as refused:
        raise FrameRefused(refused.problem) from None
    if not isinstance(value, dict):
        raise FrameRefused("is no JSON object")
    return value


class FrameReader:
    """Cuts a stream of bytes into frames, holding no more than one unfinished frame."""

    def __init__(self) -> None:
        self._begun = bytearray()

    def feed(self, data: bytes) -> list[JsonObject]:
        """Take what arrived; answer the frames that became whole, in order.

        Raises:
            FrameRefused: A line is no frame. The reader is of no use after it.
        """
        *whole, rest = data.split(_NEWLINE)
        messages: list[JsonObject] = []
        for line in whole:
            self._add(line)
            messages.append(decode_message(self._begun, MAX_FRAME))
            self._begun.clear()
        self._add(rest)
        return messages

    def end(self) -> None:
        """Learn that nothing more comes.

        Raises:
            FrameRefused: The last frame is not whole.
        """
        if self._begun:
            raise FrameRefused("breaks off")

    def _add(self, part: bytes) -> None:
        if len(self._begun) + len(part) >= MAX_FRAME:
            raise FrameRefused(f"is over {MAX_FRAME:,} bytes")
        self._begun += part
