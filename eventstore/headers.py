"""What the texts beside an event may be: bounded, one line, and without a slash inside an ID."""

import functools
import re

from runwright.eventstore.errors import ValueRefused
from runwright.eventstore.table import MAX_ACTOR, MAX_COMMAND, MAX_STREAM

MAX_ID = 128
MAX_GENERATION = 2**63 - 1

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
