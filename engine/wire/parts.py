"""Messages larger than a frame: they travel in verified parts, and other frames may come between these."""

import base64
import binascii
import secrets
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from attrs import field, frozen

from runwright.engine.wire.errors import PartRefused
from runwright.engine.wire.frames import MAX_FRAME, decode_message, encode_frame
from runwright.eventstore.errors import PayloadTooLarge
from runwright.eventstore.values import MAX_VALUE, Json, JsonObject, encode

#: Bytes of a message in one part, before they are written as base64.
PART: Final = 512 * 1024
#: The type of a frame that holds a part.
PART_TYPE: Final = "part"
#: The most bytes of a message in parts: a step settles one value, finishes with another and asks with a third.
MAX_MESSAGE: Final = 4 * MAX_VALUE
#: Messages in parts that may be under way at once.
_MAX_UPLOADS: Final = 8
_MAX_UPLOAD_ID: Final = 64
_FIELDS: Final = frozenset({"type", "upload", "index", "length", "sha256", "data"})


def frames_of(message: JsonObject, limit: int = MAX_MESSAGE) -> Iterator[bytes]:
    """Write a message as the frames that it takes: one, or its parts.

    Args:
        message: The message.
        limit: The most bytes that the other side takes.

    Raises:
        ValueRefused: Something in it has no JSON form.
        PayloadTooLarge: It is over the limit.
    """
    try:
        yield encode_frame(message)
        return
    except PayloadTooLarge:
        whole = encode(message, limit).encode()
    upload, digest = secrets.token_hex(8), sha256(whole).hexdigest()
    for index, start in enumerate(range(0, len(whole), PART)):
        yield encode_frame(
            {
                "type": PART_TYPE,
                "upload": upload,
                "index": index,
                "length": len(whole),
                "sha256": digest,
                "data": base64.b64encode(whole[start : start + PART]).decode("ascii"),
            }
        )


@frozen(kw_only=True)
class _Part:
    upload: str
    index: int
    length: int
    sha256: str
    data: bytes


@frozen(kw_only=True)
class _Upload:
    length: int
    sha256: str
    got: bytearray = field(factory=bytearray)


class Assembler:
    """Puts messages in parts together again, within a bound over all that are under way.

    Args:
        limit: The most bytes under way, as they were announced.
    """

    def __init__(self, limit: int = MAX_MESSAGE) -> None:
        self._limit = limit
        self._uploads: dict[str, _Upload] = {}

    def take(self, frame: JsonObject) -> JsonObject | None:
        """Take a frame; answer the message that it is or completes, ``None`` where more parts have to come.

        Raises:
            PartRefused: A part is malformed, out of order, or not what was announced, or too much is under way.
            FrameRefused: What the parts make up is no message.
        """
        if frame.get("type") != PART_TYPE:
            return frame
        part = _read(frame)
        upload = self._uploads.get(part.upload) or self._begin(part)
        if (part.length, part.sha256) != (upload.length, upload.sha256):
            raise PartRefused("changes what it announced")
        if part.index * PART != len(upload.got):
            raise PartRefused("is out of order")
        if len(part.data) != min(PART, upload.length - len(upload.got)):
            raise PartRefused("has a part of another size")
        upload.got.extend(part.data)
        if len(upload.got) < upload.length:
            return None
        del self._uploads[part.upload]
        if sha256(upload.got).hexdigest() != upload.sha256:
            raise PartRefused("does not have its SHA-256")
        return decode_message(upload.got, self._limit)

    def _begin(self, part: _Part) -> _Upload:
        under_way = sum(each.length for each in self._uploads.values())
        if part.length < MAX_FRAME:
            raise PartRefused("would fit into a frame")
        if under_way + part.length > self._limit or len(self._uploads) >= _MAX_UPLOADS:
            raise PartRefused(f"is over {self._limit:,} bytes with what is under way")
        upload = self._uploads[part.upload] = _Upload(length=part.length, sha256=part.sha256)
        return upload


def _read(frame: JsonObject) -> _Part:
    if frame.keys() != _FIELDS:
        raise PartRefused("has other fields")
    upload, digest = _text(frame["upload"], _MAX_UPLOAD_ID), _text(frame["sha256"], 64)
    index, length = frame["index"], frame["length"]
    if type(index) is not int or type(length) is not int:
        raise PartRefused("has a number that is none")
    try:
        data = base64.b64decode(_text(frame["data"], MAX_FRAME), validate=True)
    except (binascii.Error, ValueError):
        raise PartRefused("is no base64") from None
    return _Part(upload=upload, index=index, length=length, sha256=digest, data=data)


def _text(value: Json, longest: int) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise PartRefused("has a text that is none, or too long")
    return value
