"""A relay between a client and a host: it forwards frames, and drops what it is told to."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from attrs import define, field


@define
class Relay:
    """Stands at a path and forwards to another one.

    Attributes:
        path: Where clients connect.
        host: Where the host listens.
        lose: How many replies are swallowed from now on; each ends its connection.
        lost: How many were.
    """

    path: Path
    host: Path
    lose: int = 0
    lost: int = 0
    _server: asyncio.Server | None = field(default=None, init=False)

    async def open(self) -> None:
        """Listen."""
        self._server = await asyncio.start_unix_server(self._accept, path=str(self.path), limit=2**21)

    async def close(self) -> None:
        """Stop listening."""
        assert self._server is not None
        self._server.close()
        self.path.unlink(missing_ok=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far, onward = await asyncio.open_unix_connection(str(self.host), limit=2**21)
        await asyncio.wait(
            {
                asyncio.create_task(self._forward(reader, onward, self._keep)),
                asyncio.create_task(self._forward(far, writer, self._drop)),
            },
            return_when=asyncio.FIRST_COMPLETED,
        )
        for each in (writer, onward):
            each.close()

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
        return False

    async def _drop(self, line: bytes) -> bool:
        if self.lose and b'"type":"reply"' in line:
            self.lose -= 1
            self.lost += 1
            return True
        return False
