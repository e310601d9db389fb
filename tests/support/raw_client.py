"""A client without manners: it sends whatever bytes it is told, and reads frames."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

HELLO = b'{"type":"hello","protocol":"runwright.client.v1","version":"0"}\n'


class RawClient:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, path: Path, *, greet: bool = True) -> "RawClient":
        """Connect, and say hello."""
        client = cls(*await asyncio.open_unix_connection(str(path), limit=2**21))
        if greet:
            await client.send(HELLO)
            assert (await client.read())["type"] == "hello"
        return client

    async def send(self, data: bytes) -> None:
        """Send bytes as they are; one that has closed meanwhile takes none."""
        with suppress(OSError):
            self.writer.write(data)
            await self.writer.drain()

    async def call(self, operation: str, call_id: str = "1", **given: Any) -> None:
        """Send a call."""
        message = {"type": "call", "call_id": call_id, "client_id": "cli", "operation": operation, "payload": {}}
        await self.send(json.dumps({**message, **given}).encode() + b"\n")

    async def read(self) -> dict[str, Any]:
        """The next frame; an empty object where the connection has ended."""
        try:
            line = await self._reader.readline()
        except OSError:
            return {}
        found: dict[str, Any] = json.loads(line) if line else {}
        return found

    async def reply(self, call_id: str = "1") -> dict[str, Any]:
        """The reply of a call, whatever comes before it."""
        while (found := await self.read()).get("type") != "reply" or found["call_id"] != call_id:
            assert found, "the connection ended before the reply"
        return found

    async def rest(self) -> list[dict[str, Any]]:
        """Everything until the connection ends."""
        found = []
        while frame := await self.read():
            found.append(frame)
        return found

    async def close(self) -> None:
        """Close it."""
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()
