"""Both clients behind one face, so that a test asks the same of each."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from runwright.engine.client import AsyncClient, Client

KINDS = ("async", "sync")


class Blocking:
    """The blocking client, each call in a thread of its own."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        if name.endswith("_subscribe"):
            return lambda *args, **kwargs: BlockingSubscription(method(*args, **kwargs))

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await asyncio.to_thread(method, *args, **kwargs)

        return call


class BlockingSubscription:
    """A blocking subscription, each step in a thread of its own."""

    def __init__(self, subscription: Any) -> None:
        self._subscription = subscription

    @property
    def position(self) -> int:
        """Where it stands."""
        return int(self._subscription.position)

    def __aiter__(self) -> "BlockingSubscription":
        return self

    async def __anext__(self) -> Any:
        found = await asyncio.to_thread(self._subscription.next)
        if found is None:
            raise StopAsyncIteration
        return found

    async def close(self) -> None:
        """End it."""
        self._subscription.close()


@asynccontextmanager
async def connected(kind: str, home: Path, **options: Any) -> AsyncIterator[Any]:
    """Connect a client of one kind; the answer is asked with ``await``, whatever it is."""
    if kind == "async":
        async with await AsyncClient.connect(home, **options) as client:
            yield client
        return
    blocking = await asyncio.to_thread(lambda: Client.connect(home, **options))
    try:
        yield Blocking(blocking)
    finally:
        blocking.close()


async def ended(client: Any, run_id: str) -> Any:
    """Wait until a run has ended; its last view."""
    views = client.view_subscribe(run_id)
    try:
        async for view in views:
            if view["status"]["finished_at"] is not None:
                return view
    finally:
        await views.close()
    raise AssertionError("the subscription ended before the run")


async def taken(subscription: Any, count: int) -> list[Any]:
    """The next few things that a subscription brings."""
    return [await anext(aiter(subscription)) for _ in range(count)]
