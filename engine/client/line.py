"""One connection to a host, blocking: frames out, envelopes in."""

import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

from runwright import __version__
from runwright.engine.client.asking import greeted
from runwright.engine.client.connect import reach
from runwright.engine.protocol.envelopes import Call, Event, Hello, Reply, unwrap, wrap
from runwright.engine.protocol.errors import MessageInvalid
from runwright.engine.protocol.limits import PROTOCOL
from runwright.engine.wire.errors import WireError
from runwright.engine.wire.frames import FrameReader
from runwright.engine.wire.parts import frames_of
from runwright.eventstore.values import JsonObject

_CHUNK: Final = 256 * 1024
#: Seconds that a host may take to say hello.
HELLO: Final = 10.0


class Lost(Exception):
    """The connection is gone, or never came about; what was asked may have been done."""


class Line:
    """A connection whose host has said hello.

    Args:
        path: The host's socket.

    Attributes:
        hello: What the host said.

    Raises:
        Lost: Nobody serves there.
        ProtocolUnknown: The host speaks another version; and `PeerRefused`, where it is another user's.
    """

    def __init__(self, path: Path) -> None:
        connection = reach(path)
        if connection is None:
            raise Lost("nobody listens")
        self._socket = connection
        self._reader = FrameReader()
        self._ready: list[Reply | Event | Hello] = []
        try:
            self.hello = self._greet()
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """The descriptor, so that it can be waited for."""
        return self._socket.fileno()

    def send(self, call: Call) -> None:
        """Send a call, in parts where it is larger than a frame.

        Raises:
            Lost: The connection is gone.
        """
        self._send(wrap(call))

    def receive(self, timeout: float | None = None) -> Reply | Event | None:
        """The next envelope; ``None`` when time was up.

        Raises:
            Lost: The connection is gone.
            MessageInvalid: The host sent what is none of the protocol's.
        """
        found = self._next(timeout)
        if isinstance(found, Hello):
            raise MessageInvalid("$.type", "is hello for the second time")
        return found

    def close(self) -> None:
        """Close it, also while another thread waits for what comes; twice does no harm."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _greet(self) -> Hello:
        self._send(wrap(Hello(protocol=PROTOCOL, version=__version__)))
        found = self._next(HELLO)
        if found is None:
            raise Lost("the host does not answer")
        return greeted(found)

    def _send(self, message: JsonObject) -> None:
        try:
            self._socket.settimeout(None)
            for frame in frames_of(message):
                self._socket.sendall(frame)
        except OSError:
            raise Lost("the connection broke") from None

    def _next(self, timeout: float | None) -> Reply | Event | Hello | None:
        while not self._ready:
            try:
                self._socket.settimeout(timeout)
                data = self._socket.recv(_CHUNK)
            except (TimeoutError, BlockingIOError):  # the latter where there was no time at all
                return None
            except OSError:
                raise Lost("the connection broke") from None
            if not data:
                raise Lost("the host closed the connection")
            self._take(data)
        return self._ready.pop(0)

    def _take(self, data: bytes) -> None:
        try:
            messages = self._reader.feed(data)
        except WireError as refused:
            raise MessageInvalid("$", refused.message) from None
        for message in messages:
            envelope = unwrap(message)
            if isinstance(envelope, Call):
                raise MessageInvalid("$.type", "is call, which no host sends")
            self._ready.append(envelope)
