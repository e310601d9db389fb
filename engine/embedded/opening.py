"""An engine that is being opened: await it, or enter it."""

from collections.abc import Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar


class Closing(Protocol):
    """Something that is closed with ``await``."""

    async def close(self) -> object:
        """Close it."""
        ...


E = TypeVar("E", bound=Closing)


class Opening(Generic[E]):
    """Opens when it is awaited or entered, and closes when it is left."""

    def __init__(self, opened: Callable[[], Awaitable[E]]) -> None:
        self._opened = opened
        self._engine: E | None = None

    def __await__(self) -> Generator[Any, None, E]:
        return self._opened().__await__()

    async def __aenter__(self) -> E:
        self._engine = await self
        return self._engine

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._engine is not None:
            await self._engine.close()
