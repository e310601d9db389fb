"""Who is at the other end of a local socket, as the kernel knows it."""

import os
import socket
import struct
import sys
from typing import Final

#: `struct ucred` of Linux: pid, uid, gid.
_UCRED: Final = struct.Struct("3i")
#: The beginning of `struct xucred` of macOS: version, uid.
_XUCRED: Final = struct.Struct("II")
_SOL_LOCAL: Final = 0
_LOCAL_PEERCRED: Final = 1


def peer_uid(connection: socket.socket) -> int | None:
    """The user ID of the process at the other end; ``None`` where this system does not tell."""
    if sys.platform == "linux":
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        return int(_UCRED.unpack(raw)[1])
    if sys.platform == "darwin":
        raw = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 128)
        return int(_XUCRED.unpack(raw[: _XUCRED.size])[1])
    return None


def is_ours(uid: int | None) -> bool:
    """Whether a peer is the user that this process runs as; where nobody can tell, the socket's mode decides."""
    return uid is None or uid == os.geteuid()
