"""A relay between a client and a host: it forwards frames, measures them, and drops what it is told to."""

import asyncio
import json
import shutil
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from attrs import define, field

from support.serving import Served


@define
class Relay:
    """Stands at a path and forwards to another one.

    Attributes:
        path: Where clients connect.
        host: Where the host listens.
        lose: How many replies are swallowed from now on; each ends its connection.
        keep: How many are let through before each.
        lost: How many were.
        connections: How many clients came, or came again.
        frames: The bytes of each frame of the host's, by the operation that it belongs to.
    """

    path: Path
    host: Path
    lose: int = 0
    keep: int = 0
    lost: int = 0
    connections: int = 0
    frames: dict[str, list[int]] = field(factory=lambda: defaultdict(list))
    _kept: int = field(default=0, init=False)
    _asked: dict[str, str] = field(factory=dict, init=False)
    _server: asyncio.Server | None = field(default=None, init=False)
    _open: set[asyncio.Task[None]] = field(factory=set, init=False)

    async def open(self) -> None:
        """Listen."""
        self._server = await asyncio.start_unix_server(self._accept, path=str(self.path), limit=2**21)

    async def close(self) -> None:
        """Stop listening, and end what is open."""
        assert self._server is not None
        self._server.close()
        self.path.unlink(missing_ok=True)
        for each in self._open:
            each.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far, onward = await asyncio.open_unix_connection(str(self.host), limit=2**21)
        ways = {
            asyncio.create_task(self._forward(reader, onward, self._keep)),
            asyncio.create_task(self._forward(far, writer, self._drop)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ways:
                each.cancel()
            for end in (writer, onward):
                end.close()

    async def _forward(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, loses: Callable[[bytes], Awaitable[bool]]
    ) -> None:
        with suppress(OSError):
            while line := await source.readline():
                if await loses(line):
                    return
                target.write(line)
                await target.drain()

    async def _keep(self, line: bytes) -> bool:
        frame = json.loads(line)
        if frame["type"] == "call":
            self._asked[frame["call_id"]] = frame["operation"]
        return False

    async def _drop(self, line: bytes) -> bool:
        frame = json.loads(line)
        self.frames[self._asked.get(frame.get("call_id"), "hello")].append(len(line))
        if not self.lose or frame["type"] != "reply":
            return False
        self._kept += 1
        if self._kept <= self.keep:
            return False
        self._kept = 0
        self.lose -= 1
        self.lost += 1
        return True


@asynccontextmanager
async def relayed(host: Served, folder: Path) -> AsyncIterator[Relay]:
    """A relay before a host; its folder is a state directory to whoever connects."""
    folder.mkdir(mode=0o700)
    shutil.copy(host.home / "store.id", folder)  # by which a client finds the socket
    relay = Relay(path=folder / "host.sock", host=host.server.path)
    await relay.open()
    try:
        yield relay
    finally:
        await relay.close()
