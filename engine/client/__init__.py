"""The Python client of a host: `Client` for programs without a loop, `AsyncClient` for those with one."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runwright.engine.client.async_client import AsyncClient as AsyncClient
    from runwright.engine.client.client import Client as Client
    from runwright.engine.client.connect import find_host as find_host

_WHERE = {"AsyncClient": "async_client", "Client": "client", "find_host": "connect"}

__all__ = ["AsyncClient", "Client", "find_host"]


def __getattr__(name: str) -> object:
    """Load a name when it is first used: a blocking client needs no asyncio."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
