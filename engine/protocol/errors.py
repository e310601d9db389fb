"""What can go wrong between a client and a host, before the engine is asked anything.

EngineError
└── ProtocolError
    ├── MessageInvalid        a message does not have the fields that it has to have
    ├── OperationUnknown      there is no such operation in this version
    ├── ProtocolUnknown       the other side speaks another version
    ├── FrameInvalid          a line is no frame; that connection is over
    ├── PeerRefused           another user is at the other end
    ├── HostBusy              too much is under way at once
    ├── HostFailed            the host met a fault of its own
    └── HostUnavailable       no host answers
"""

from collections.abc import Sequence
from pathlib import Path

from runwright.engine.codes import HINTS
from runwright.engine.errors import EngineError


class ProtocolError(EngineError):
    """The parent of what goes wrong on the way."""

    code = "protocol_error"

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (type(self), self.args, self.__dict__)


def _revive(cls: type[ProtocolError], args: tuple[object, ...], facts: dict[str, object]) -> ProtocolError:
    """Rebuild a copied or unpickled error without its own constructor's arguments."""
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(facts)
    return error


class MessageInvalid(ProtocolError):
    """A message has an unknown field, lacks one, or holds what that field cannot hold."""

    code = "message_invalid"

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(
            f"The message does not fit: {path} {problem}.", "docs/reference/protocol.md says what it holds"
        )
        self.path = path
        self.problem = problem


class OperationUnknown(ProtocolError):
    """This version of the protocol has no such operation."""

    code = "operation_unknown"

    def __init__(self, operation: str, known: Sequence[str]) -> None:
        super().__init__(
            f"There is no operation {operation}; there are {', '.join(known)}.",
            "use one of them, or a host of another version",
        )
        self.operation = operation


class ProtocolUnknown(ProtocolError):
    """The two sides speak different versions of the protocol."""

    code = "protocol_unknown"

    def __init__(self, asked: str, spoken: str, version: str) -> None:
        super().__init__(
            f"{asked} is not spoken here; runwright {version} speaks {spoken}.",
            "install the same version of runwright on both sides, then restart the host: runwright host stop",
        )
        self.asked = asked
        self.spoken = spoken


class FrameInvalid(ProtocolError):
    """A line is no frame, or too long; what follows on that connection cannot be trusted, and it is closed."""

    code = "frame_invalid"

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}", "open a new connection; a frame is one JSON object of at most 1 MiB on one line")
        self.problem = problem


class PeerRefused(ProtocolError):
    """The process at the other end belongs to another user."""

    code = "peer_refused"

    def __init__(self) -> None:
        super().__init__("The host belongs to another user.", "use a host of your own: --home names its folder")


class HostBusy(ProtocolError):
    """Too much is under way at once; nothing was done."""

    code = "host_busy"

    def __init__(self, what: str) -> None:
        super().__init__(f"The host has too many {what}.", "wait for some to end, then try again")
        self.what = what


class HostFailed(ProtocolError):
    """The host met a fault of its own; nothing that was acknowledged is lost."""

    code = "host_failed"

    def __init__(self) -> None:
        super().__init__(
            "The host met a fault of its own.", "repeat it with the same key; the host's log has the place"
        )


class HostUnavailable(ProtocolError):
    """No host answers, or not in time."""

    code = "host_unavailable"

    def __init__(self, home: Path, why: str) -> None:
        super().__init__(f"No host answers for {home}: {why}.", HINTS[self.code])
        self.home = home
        self.why = why
