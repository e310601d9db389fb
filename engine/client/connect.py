"""Finding and reaching the host of a state directory; nothing heavy is imported for it."""

import json
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from runwright.engine.protocol.errors import PeerRefused
from runwright.engine.protocol.peers import is_ours, peer_uid
from runwright.engine.protocol.place import socket_path
from runwright.eventstore.home import Home

#: Bytes of ``store.id`` that are looked at.
_LONGEST: Final = 4096
#: Seconds that a socket may take to be connected, and between two tries while too many wait before its host.
_PATIENCE: Final = 5.0
_PAUSE: Final = 0.02


def place_of(home: Path) -> Path | None:
    """Where the socket of a host of this directory would stand; ``None`` where there is no store yet.

    Raises:
        UnsafeHome: Somebody else could have put it there; or `UnusableHome`, where it has no place.
    """
    log_id = _log_id(Home(home).store_id)
    return None if log_id is None else socket_path(home, log_id)


def find_host(home: Path) -> Path | None:
    """The socket of the host that serves a state directory; ``None`` where none does.

    Raises:
        UnsafeHome: Somebody else could have put it there.
    """
    path = place_of(home)
    if path is None or not path.is_socket():
        return None
    connection = reach(path)
    if connection is None:
        return None
    connection.close()
    return path


def reach(path: Path) -> socket.socket | None:
    """Connect to a host's socket; ``None`` where nobody listens.

    Raises:
        PeerRefused: Another user's process listens there.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_PATIENCE)
        _connect(connection, path)
        uid = peer_uid(connection)
    except OSError:
        # Nothing there, left behind by a host that died, or too many wait all the time: in each case nobody answers.
        connection.close()
        return None
    if not is_ours(uid):
        connection.close()
        raise PeerRefused
    return connection


def _connect(connection: socket.socket, path: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return connection.connect(str(path))
        except BlockingIOError:  # a host lives, and many ask in one moment
            if time.monotonic() >= until:
                raise
        time.sleep(_PAUSE)


def _log_id(path: Path) -> str | None:
    with suppress(OSError, ValueError), path.open("rb") as file:
        content = json.loads(file.read(_LONGEST))
        if isinstance(content, dict) and isinstance(found := content.get("log_id"), str) and found.isalnum():
            return found
    return None
