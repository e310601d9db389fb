"""What the texts beside an event may be: bounded, one line, and without a slash inside an ID."""

import functools
import re

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.errors import EventUnreadable, ValueRefused
from runwright.eventstore.table import MAX_ACTOR, MAX_COMMAND, MAX_STREAM
from runwright.eventstore.values import MAX_DATA

MAX_ID = 128
MAX_GENERATION = 2**63 - 1

#: The year 9999, in UTC microseconds: a date behind it has no form.
_AT_END = 253_370_764_800_000_000

_STREAM = re.compile(
    r"host|log|(?:run|session|definition|sources)/(?P<one>[^/]+)|command/(?P<client>[^/]+)/(?P<key>[^/]+)"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@functools.lru_cache(maxsize=4096)
def check_stream(stream: str) -> None:
    """Check a stream's name.

    Raises:
        ValueRefused: It is of no kind that the log knows, too long, or holds control characters.
    """
    _check("stream", stream, MAX_STREAM)
    match = _STREAM.fullmatch(stream)
    if match is None:
        raise ValueRefused("stream", "is of no known kind", "use run/ID, session/ID and their like; an ID has no /")
    for part in match.groups():
        if part is not None and len(part.encode()) > MAX_ID:
            raise ValueRefused("stream", f"has an ID over {MAX_ID} bytes", "use a shorter one")


@functools.lru_cache(maxsize=4096)
def check_actor(actor: str) -> None:
    """Check who is said to have caused an event.

    Raises:
        ValueRefused: It is empty, too long, or holds control characters.
    """
    _check("actor", actor, MAX_ACTOR)


def check_command(command: str | None) -> None:
    """Check a command's key.

    Raises:
        ValueRefused: It is empty, too long, or holds control characters.
    """
    if command is not None:
        _check("command", command, MAX_COMMAND)


def check_generation(generation: int | None) -> None:
    """Check a claim generation.

    Raises:
        ValueRefused: It is no whole number from 0.
    """
    if generation is not None and (type(generation) is not int or not 0 <= generation <= MAX_GENERATION):
        raise ValueRefused("generation", "is no whole number from 0", "hand in the claim's generation")


def check_event(event: RecordedEvent) -> None:
    """Check that a stored event is one that a version of this program could have written, and can be read by this one.

    Raises:
        EventUnreadable: It is not; `UnknownEvent` where this version knows no such type.
    """
    try:
        check_stream(event.stream)
        check_actor(event.actor)
        check_command(event.command)
        check_generation(event.generation)
    except ValueRefused as refused:
        raise EventUnreadable(event.position, event.type, f"its {refused.path} {refused.problem}") from None
    if not 0 <= event.at < _AT_END:
        raise EventUnreadable(event.position, event.type, "its time is none that a clock shows")
    if len(event.data.encode()) > MAX_DATA:
        raise EventUnreadable(event.position, event.type, f"its data has more than {MAX_DATA:,} bytes")
    _ = event.event


def _check(name: str, text: str, most: int) -> None:
    if type(text) is not str:
        raise ValueRefused(name, "is no text", "hand in a str")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueRefused(name, "holds a lone surrogate", "use valid text") from None
    if not 0 < size <= most:
        raise ValueRefused(name, f"has {size} bytes", f"use 1 to {most}")
    if _CONTROL.search(text):
        raise ValueRefused(name, "holds a control character", "use one line of plain text")
