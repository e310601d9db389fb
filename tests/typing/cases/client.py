"""The operations of both clients keep their types; what is planted wrong is found."""

from typing import Any, assert_type

from runwright.engine.client import AsyncClient, Client
from runwright.engine.results import Adopted, Applied


def blocking(client: Client) -> None:
    """Each method answers."""
    assert_type(client.run_status("run"), dict[str, Any])
    assert_type(client.run_start("flow.py", {}, cwd="."), Applied[str] | Adopted[str])
    client.run_status(3)  # expect-error
    client.run_status("run", wait=True)  # expect-error
    client.run_start("flow.py", {})  # expect-error
    client.run_statuses("run")  # expect-error


async def asynchronous(client: AsyncClient) -> None:
    """Each method is awaited."""
    assert_type(await client.run_status("run"), dict[str, Any])
    assert_type(await client.run_start("flow.py", {}, cwd="."), Applied[str] | Adopted[str])
    assert_type(client.run_status("run"), dict[str, Any])  # expect-error
    await client.run_status(3)  # expect-error
    await client.run_start("flow.py", {})  # expect-error
