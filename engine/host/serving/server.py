"""The server: a private socket, a bounded number of connections, and each peer checked before it is heard."""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from runwright.engine.host.serving.bounds import MOST_CONNECTIONS
from runwright.engine.host.serving.connection import Connection
from runwright.engine.host.serving.dispatcher import Connected, Dispatcher
from runwright.engine.host.serving.surface import Surface
from runwright.engine.protocol.envelopes import Reply, wrap
from runwright.engine.protocol.errors import HostBusy, PeerRefused, ProtocolError
from runwright.engine.protocol.failures import failure_of, outcome_of
from runwright.engine.protocol.peers import is_ours, peer_uid
from runwright.engine.protocol.place import prepare_folder, socket_path
from runwright.engine.tasks import end_task
from runwright.engine.wire.frames import MAX_FRAME, encode_frame

_log = logging.getLogger("runwright.host")

_BACKLOG = 128


class Server:
    """Serves clients on a socket; open one with `Server.open`, on the loop.

    Args:
        surface: What it serves.
        path: Where its socket stands.
        peer: Answers the user ID of who is at the other end of a connection.
    """

    def __init__(self, surface: Surface, path: Path, *, peer: Callable[[socket.socket], int | None] = peer_uid) -> None:
        self.path = path
        self._surface = surface
        self._peer = peer
        self._dispatcher = Dispatcher(surface, self._connected)
        self._connections: dict[asyncio.Task[None], Connection] = {}
        self._listening: asyncio.Server | None = None

    @classmethod
    async def open(cls, surface: Surface, *, peer: Callable[[socket.socket], int | None] = peer_uid) -> "Server":
        """Listen, in the state directory of a store that this process holds.

        Raises:
            UnusableHome: The path is too long, and there is no place elsewhere; `UnsafeHome` where that is not ours.
        """
        holder = surface.holder
        path = socket_path(holder.home.path, holder.log.log_id)
        server = cls(surface, path, peer=peer)
        server._listening = await asyncio.start_unix_server(
            server._accept, sock=_bound(path, inside=path == holder.home.socket), limit=MAX_FRAME, backlog=_BACKLOG
        )
        return server

    @property
    def connections(self) -> int:
        """How many clients are connected; a host with none may be idle."""
        return len(self._connections)

    async def close(self) -> None:
        """Take no more connections, end those there are, and remove the socket."""
        if self._listening is None:
            return
        listening, self._listening = self._listening, None
        self.path.unlink(missing_ok=True)
        if self.path != self._surface.holder.home.socket:
            # Its private folder is empty now; a client may still look at it, and the next host makes it anew.
            with suppress(OSError):
                self.path.parent.rmdir()
        listening.close()
        connections = list(self._connections)
        for task in connections:
            end_task(task)
        if connections:
            await asyncio.wait(connections)
        await listening.wait_closed()
        self._dispatcher.close()

    def _connected(self) -> Connected:
        return Connected(
            connections=len(self._connections),
            subscriptions=sum(each.subscriptions for each in self._connections.values()),
        )

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "a connection is served by a task"
        refusal = self._refusal(writer)
        if refusal is not None:
            await _turn_away(writer, refusal)
            return
        connection = Connection(reader, writer, self._dispatcher, self._surface.holder.epoch)
        self._connections[task] = connection
        try:
            await connection.serve()
        except asyncio.CancelledError:
            # The server is closing: a task that ends like any other leaves nothing to report.
            return
        finally:
            del self._connections[task]

    def _refusal(self, writer: asyncio.StreamWriter) -> ProtocolError | None:
        connection: socket.socket = writer.get_extra_info("socket")
        try:
            uid = self._peer(connection)
        except OSError:
            return PeerRefused()  # gone already, or not to be known
        if not is_ours(uid):
            _log.warning("a connection of another user was refused")
            return PeerRefused()
        return HostBusy("connections") if len(self._connections) >= MOST_CONNECTIONS else None


async def _turn_away(writer: asyncio.StreamWriter, refusal: ProtocolError) -> None:
    """Say why, and close; a refused client is not waited for."""
    reply = Reply(call_id=None, outcome=outcome_of(refusal), error=failure_of(refusal))
    writer.write(encode_frame(wrap(reply)))
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


def _bound(path: Path, *, inside: bool) -> socket.socket:
    """A socket that nobody else can reach from its first instant; what a dead host left there is removed."""
    if not inside:
        prepare_folder(path)
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(OSError):
            # On Linux the file gets the mode that the socket has; elsewhere its private folder keeps others out.
            os.fchmod(listening.fileno(), 0o600)
        listening.bind(str(path))
        path.chmod(0o600)
    except BaseException:
        listening.close()
        raise
    return listening
