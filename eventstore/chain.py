"""The hash chain over stored bytes: pure functions, pinned by golden vectors."""

from hashlib import sha256
from json.encoder import encode_basestring as _quoted
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runwright.eventstore.envelope import RecordedEvent

HASH_BYTES = 32
SALT_BYTES = 16


def genesis(log_id: str) -> bytes:
    """Answer the hash that stands before the first event of a log."""
    return sha256(b"rw/log/1" + log_id.encode()).digest()


def body_digest(salt: bytes, body: str) -> bytes:
    """Answer the digest that commits to a body and survives its erasure."""
    return sha256(b"rw/body/1" + salt + body.encode()).digest()


def event_hash(
    previous: bytes,
    position: int,
    stream: str,
    version: int,
    type: str,
    at: int,
    actor: str,
    generation: int | None,
    command: str | None,
    data: str,
    digest: bytes | None,
) -> bytes:
    """Answer the hash of an event, given the hash of the one before it.

    Args:
        previous: The hash of the previous event, or `genesis` before the first.
        position: The event's place in the log.
        stream: Its stream.
        version: Its place in the stream.
        type: Its stored type name.
        at: UTC microseconds.
        actor: Who caused it.
        generation: The claim generation it was written under.
        command: The command's key.
        data: The stored text of the control facts, never a re-encoding.
        digest: The stored digest of its body, or ``None`` when it never had one.

    Returns:
        32 bytes.
    """
    header = (
        f"[{position},{_quoted(stream)},{version},{_quoted(type)},{at},{_quoted(actor)},"
        f"{'null' if generation is None else generation},{'null' if command is None else _quoted(command)}]"
    ).encode()
    tail = b"\x00" if digest is None else b"\x01" + digest
    return sha256(
        b"rw/event/1" + previous + len(header).to_bytes(8, "big") + header + sha256(data.encode()).digest() + tail
    ).digest()


def hash_after(previous: bytes, recorded: "RecordedEvent") -> bytes:
    """Answer the hash that a recorded event must have after a previous hash."""
    return event_hash(
        previous,
        recorded.position,
        recorded.stream,
        recorded.version,
        recorded.type,
        recorded.at,
        recorded.actor,
        recorded.generation,
        recorded.command,
        recorded.data,
        recorded.digest,
    )
