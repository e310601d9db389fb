"""Telling whoever started a host in the background that it serves, or why it does not."""

import json
import os
from contextlib import suppress
from typing import Final

from attrs import frozen

#: Names the descriptor that readiness is told through.
VARIABLE: Final = "RUNWRIGHT_READY"
_LONGEST: Final = 16 * 1024


@frozen
class NotReady:
    """Why a host does not serve: the error's code, sentence and next step."""

    code: str
    message: str
    hint: str


class Readiness:
    """The starter's ear; without one, nobody listens and nothing is said.

    Args:
        descriptor: Where to say it; ``None`` for nowhere.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @classmethod
    def taken(cls) -> "Readiness":
        """The one that this process was started with; nothing that it starts itself gets it."""
        told = os.environ.pop(VARIABLE, "")
        if not told.isdigit():
            return cls(None)
        descriptor = int(told)
        with suppress(OSError):
            os.set_inheritable(descriptor, False)
            return cls(descriptor)
        return cls(None)

    @property
    def wanted(self) -> bool:
        """Whether anybody waits: then this process runs in the background."""
        return self._descriptor is not None

    def say(self, not_ready: NotReady | None = None) -> None:
        """Say that it serves, or why not; once."""
        if self._descriptor is None:
            return
        word = (
            {} if not_ready is None else {"code": not_ready.code, "message": not_ready.message, "hint": not_ready.hint}
        )
        with suppress(OSError):  # whoever waited has gone
            os.write(self._descriptor, json.dumps(word).encode()[:_LONGEST] + b"\n")
        os.close(self._descriptor)
        self._descriptor = None


def hear(descriptor: int) -> NotReady | None:
    """Wait until a host says that it serves (``None``), or why it does not.

    Args:
        descriptor: The reading end; one line comes through it, or none.
    """
    told = b""
    while not told.endswith(b"\n") and (part := os.read(descriptor, _LONGEST)):
        told += part
    try:
        word = json.loads(told)
        return NotReady(word["code"], word["message"], word["hint"]) if word else None
    except (ValueError, KeyError, TypeError):
        return NotReady(
            "host_unavailable", "The host ended before it was ready.", "`runwright host run` in a terminal shows why"
        )
