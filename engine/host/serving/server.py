"""The server: a private socket, a bounded number of connections, and each peer checked before it is heard."""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from runwright.engine.host.serving.bounds import AGAIN, BACKLOG, MOST_CONNECTIONS
from runwright.engine.host.serving.connection import Connection
from runwright.engine.host.serving.dispatcher import Connected, Dispatcher, place_of
from runwright.engine.host.serving.surface import Surface
from runwright.engine.protocol.envelopes import Reply, wrap
from runwright.engine.protocol.errors import HostBusy, PeerRefused, ProtocolError
from runwright.engine.protocol.failures import failure_of, outcome_of
from runwright.engine.protocol.peers import is_ours, peer_uid
from runwright.engine.protocol.place import prepare_folder, socket_path
from runwright.engine.tasks import end_task, own_task
from runwright.engine.wire.frames import MAX_FRAME, encode_frame

_log = logging.getLogger("runwright.host")


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
        self._connections: dict[asyncio.Task[None], Connection | None] = {}
        self._socket = _bound(path, inside=path == surface.holder.home.socket)
        self._named = path.lstat()
        self._loop = asyncio.get_running_loop()
        self._again: asyncio.TimerHandle | None = None
        self._closed = False

    @classmethod
    async def open(cls, surface: Surface, *, peer: Callable[[socket.socket], int | None] = peer_uid) -> "Server":
        """Listen, in the state directory of a store that this process holds.

        Raises:
            UnusableHome: The path is too long, and there is no place elsewhere; `UnsafeHome` where that is not ours.
        """
        holder = surface.holder
        path = socket_path(holder.home.path, holder.log.log_id)
        server = cls(surface, path, peer=peer)
        try:
            await server._dispatcher.attendance.begin()
        except BaseException:
            await server.close()
            raise
        server._listen()
        return server

    @property
    def connections(self) -> int:
        """How many clients are connected; a host with none may be idle."""
        return len(self._connections)

    async def close(self) -> None:
        """Take no more connections, end those there are, and remove the socket."""
        if self._closed:
            return
        self._closed = True
        self._remove()
        self._loop.remove_reader(self._socket)
        if self._again is not None:
            self._again.cancel()
        self._socket.close()
        connections = list(self._connections)
        for task in connections:
            end_task(task)
        if connections:
            await asyncio.wait(connections)
        self._dispatcher.close()

    def _remove(self) -> None:
        """Remove the socket, unless the state directory was replaced, and another host has put its own there."""
        with suppress(OSError):  # it has been removed already, with everything around it
            if not os.path.samestat(self.path.lstat(), self._named):
                return
            self.path.unlink()
            if self.path != self._surface.holder.home.socket:
                # Its private folder is empty now; a client may still look at it, and the next host makes it anew.
                self.path.parent.rmdir()

    def _connected(self) -> Connected:
        return Connected(
            connections=len(self._connections),
            subscriptions=sum(each.subscriptions for each in self._connections.values() if each is not None),
        )

    def _listen(self) -> None:
        self._loop.add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        """Take a connection, into a task of its own: from here on somebody will close it."""
        try:
            accepted, _ = self._socket.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            # Out of descriptors, for one: those that wait are taken when others have gone.
            _log.warning("a connection was not taken (%s)", type(error).__name__)
            self._loop.remove_reader(self._socket)
            self._again = self._loop.call_later(AGAIN, self._listen)
            return
        accepted.setblocking(False)
        task = own_task(self._serve(accepted), name="connection")
        self._connections[task] = None
        task.add_done_callback(partial(self._over, accepted))

    def _over(self, accepted: socket.socket, task: asyncio.Task[None]) -> None:
        """A connection has ended, whichever way."""
        if self._connections.pop(task) is None:
            accepted.close()  # it was turned away, or ended before it was heard
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a connection met a fault: %s at %s", type(error).__name__, place_of(error))

    async def _serve(self, accepted: socket.socket) -> None:
        reader = asyncio.StreamReader(limit=MAX_FRAME)
        writer = await _writer(reader, accepted)
        refusal = self._refusal(accepted)
        if refusal is not None:
            await _turn_away(writer, refusal)
            return
        task = asyncio.current_task()
        assert task is not None, "a connection is served by a task"
        connection = Connection(reader, writer, self._dispatcher, self._surface.holder.epoch)
        self._connections[task] = connection
        await connection.serve()

    def _refusal(self, connection: socket.socket) -> ProtocolError | None:
        try:
            uid = self._peer(connection)
        except OSError:
            return PeerRefused()  # gone already, or not to be known
        if not is_ours(uid):
            _log.warning("a connection of another user was refused")
            return PeerRefused()
        return HostBusy("connections") if len(self._connections) > MOST_CONNECTIONS else None


async def _writer(reader: asyncio.StreamReader, accepted: socket.socket) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    try:
        transport, protocol = await loop.connect_accepted_socket(
            lambda: asyncio.StreamReaderProtocol(reader), sock=accepted
        )
    except BaseException:
        accepted.close()
        raise
    return asyncio.StreamWriter(transport, protocol, reader, loop)


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
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except BaseException:
        listening.close()
        raise
    return listening
