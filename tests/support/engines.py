"""Both engines behind one face, so that a test asks the same of each."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from runwright import AsyncEngine, Engine

KINDS = ("async", "sync")


class Blocking:
    """The blocking engine, each call in a thread of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def reader(self) -> Any:
        """The reader, which has no second form."""
        return self._engine.reader

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._engine, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await asyncio.to_thread(method, *args, **kwargs)

        return call


@asynccontextmanager
async def opened(kind: str, path: Path, **options: Any) -> AsyncIterator[Any]:
    """Open an engine of one kind; the answer is asked with ``await``, whatever it is."""
    if kind == "async":
        async with AsyncEngine.open(path, **options) as engine:
            yield engine
        return
    blocking = await asyncio.to_thread(lambda: Engine.open(path, **options))
    try:
        yield Blocking(blocking)
    finally:
        await asyncio.to_thread(blocking.close)


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    """Wait until something is so that no event tells of."""
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.005)
