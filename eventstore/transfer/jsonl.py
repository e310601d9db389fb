"""The native export format: one head line, then one canonical line for each event."""

import re
from collections.abc import Callable
from typing import Final

from attrs import fields, frozen

from runwright.eventstore.chain import HASH_BYTES, SALT_BYTES
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.transfer.text import read_text, write_text
from runwright.eventstore.values import Json, JsonObject

FORMAT: Final = "runwright.log.v1"

#: No line is longer: an event holds a few values of at most 16 MiB, and an export is read line by line.
LINE_BYTES_MAX: Final = 128 * 1024 * 1024

_HEX = re.compile(r"[0-9a-f]*")
_COLUMNS = frozenset(each.name for each in fields(RecordedEvent) if each.name not in {"with_body", "_event"})
_HEAD_KEYS = frozenset(("first", "format", "last", "log_id", "previous"))

#: How a head line begins, of a whole export and of a part.
HEAD_BEGINNINGS: Final = (b'{"first":', b'{"complete":')


class LineRefused(Exception):
    """A line is not a canonical line of the native format; the message says why, without its content."""


@frozen(kw_only=True)
class ExportHead:
    """The head line of an export.

    Attributes:
        log_id: The log's ID.
        first: The position of the first event in the file.
        last: The position of the last one.
        previous: The hash before the first event.
        complete: Whether the file holds the whole log.
    """

    log_id: str
    first: int
    last: int
    previous: bytes
    complete: bool = True


@frozen
class ExportLine:
    """One event line: the event and, in a part of the log, the hash before it."""

    event: RecordedEvent
    previous: bytes | None


def write_head(head: ExportHead) -> bytes:
    """Write a head line, its end included."""
    line: JsonObject = {
        "first": head.first,
        "format": FORMAT,
        "last": head.last,
        "log_id": head.log_id,
        "previous": head.previous.hex(),
    }
    if not head.complete:
        line["complete"] = False
    return (write_text(line) + "\n").encode()


def write_event(event: RecordedEvent, *, with_values: bool = False, previous: bytes | None = None) -> bytes:
    """Write one event line, its end included.

    The stored texts of ``data`` and ``body`` go in as they are: they are canonical, and so is the line.

    Args:
        event: The event.
        with_values: Whether its salt and body go along.
        previous: The hash before it, for a part of the log.
    """
    salt, body = (event.salt, event.body) if with_values else (None, None)
    pieces = (
        f'{{"actor":{write_text(event.actor)},"at":{event.at},"body":{"null" if body is None else body},'
        f'"command":{write_text(event.command)},"data":{event.data},"digest":{_hex(event.digest)},'
        f'"generation":{write_text(event.generation)},"hash":{_hex(event.hash)},"position":{event.position},',
        "" if previous is None else f'"previous":{_hex(previous)},',
        f'"salt":{_hex(salt)},"stream":{write_text(event.stream)},"type":{write_text(event.type)},'
        f'"version":{event.version}}}\n',
    )
    return "".join(pieces).encode()


def read_head(line: bytes) -> ExportHead:
    """Read a head line.

    Args:
        line: The line without its end.

    Raises:
        LineRefused: It is not a canonical head line.
    """
    value = _object(line)
    complete = "complete" not in value
    if value.keys() - {"complete"} != _HEAD_KEYS or value.get("format") != FORMAT:
        raise LineRefused(f"it is not the head line of a {FORMAT} file")
    if not complete and value["complete"] is not False:
        raise LineRefused("its field complete can only be false")
    head = ExportHead(
        log_id=_text(value, "log_id"),
        first=_number(value, "first"),
        last=_number(value, "last"),
        previous=_hash(value, "previous"),
        complete=complete,
    )
    _compare(line, lambda: write_head(head))
    return head


def read_event(line: bytes, *, complete: bool = True) -> ExportLine:
    """Read one event line; the event's ``data`` and ``body`` come back as the very texts that were stored.

    Args:
        line: The line without its end.
        complete: Whether it stands in a whole export; in a part of one it carries a ``previous`` hash.

    Raises:
        LineRefused: It is not a canonical event line.
    """
    value = _object(line)
    if value.keys() != (_COLUMNS if complete else _COLUMNS | {"previous"}):
        raise LineRefused("its fields are not those of an event")
    event = RecordedEvent(
        position=_number(value, "position"),
        stream=_text(value, "stream"),
        version=_number(value, "version"),
        type=_text(value, "type"),
        at=_number(value, "at"),
        actor=_text(value, "actor"),
        generation=None if value["generation"] is None else _number(value, "generation"),
        command=None if value["command"] is None else _text(value, "command"),
        data=_canonical(value, "data"),
        digest=None if value["digest"] is None else _hash(value, "digest"),
        hash=_hash(value, "hash"),
        salt=None if value["salt"] is None else _bytes(value, "salt", SALT_BYTES),
        body=None if value["body"] is None else _canonical(value, "body"),
    )
    previous = None if complete else _hash(value, "previous")
    _compare(line, lambda: write_event(event, with_values=True, previous=previous))
    return ExportLine(event, previous)


def _compare(line: bytes, canonical: Callable[[], bytes]) -> None:
    """Refuse every byte that the chain does not vouch for: spaces, spellings, case, order."""
    try:
        same = canonical() == line + b"\n"
    except ValueError:
        same = False  # a lone surrogate: the line spells it, and no canonical text can hold it
    if not same:
        raise LineRefused("it is not in its canonical form")


def _object(line: bytes) -> JsonObject:
    try:
        value = read_text(line.decode())
    except UnicodeDecodeError:
        raise LineRefused("it is not UTF-8 text") from None
    except ValueError:
        raise LineRefused("it is not valid JSON") from None
    if not isinstance(value, dict):
        raise LineRefused("it is not a JSON object")
    return value


def _hex(value: bytes | None) -> str:
    return "null" if value is None else f'"{value.hex()}"'


def _text(value: JsonObject, name: str) -> str:
    text = value[name]
    if not isinstance(text, str):
        raise LineRefused(f"its field {name} is not a text")
    return text


def _number(value: JsonObject, name: str) -> int:
    number: Json = value[name]
    # bool is an int in Python and not in the log; SQLite's integers end at 64 bits.
    if type(number) is not int or not -(2**63) <= number < 2**63:
        raise LineRefused(f"its field {name} is not an integer")
    return number


def _bytes(value: JsonObject, name: str, length: int) -> bytes:
    """Read a field in hex; the length counts, because the bytes before a hashed text must not reach into it."""
    text = _text(value, name)
    if len(text) != 2 * length or _HEX.fullmatch(text) is None:
        raise LineRefused(f"its field {name} is not {length} bytes in lower-case hex")
    return bytes.fromhex(text)


def _hash(value: JsonObject, name: str) -> bytes:
    return _bytes(value, name, HASH_BYTES)


def _canonical(value: JsonObject, name: str) -> str:
    inner = value[name]
    if not isinstance(inner, dict):
        raise LineRefused(f"its field {name} is not an object")
    try:
        return write_text(inner)
    except (ValueError, RecursionError):
        raise LineRefused(f"its field {name} has no canonical form") from None
