"""Is the socket private, is each peer checked, and does the server leave nothing behind?"""

import asyncio
import errno
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from support.raw_client import RawClient
from support.serving import served


async def test_the_socket_is_private(tmp_path: Path) -> None:
    """It has mode 0600 in a 0700 folder, takes the place of one that a dead host left, and goes in the end."""
    home = tmp_path / "home"
    async with served(home):
        pass
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(home / "host.sock"))
    left.close()
    async with served(home) as host:
        assert host.server.path == home / "host.sock"
        assert stat.S_IMODE(host.server.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert not (home / "host.sock").exists()


async def test_another_user_is_refused(tmp_path: Path) -> None:
    """A peer with another user ID is told so, before anything it sent is read."""
    async with served(tmp_path / "home", peer=lambda _: os.geteuid() + 1) as host:
        client = await RawClient.open(host.server.path, greet=False)
        (refused,) = await client.rest()
        assert (refused["outcome"], refused["error"]["code"]) == ("rejected", "peer_refused")
        await client.close()
        assert host.server.connections == 0


async def test_a_peer_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    """Where the kernel fails to tell who it is, nobody is served."""

    def unknown(_: socket.socket) -> int | None:
        raise OSError

    async with served(tmp_path / "home", peer=unknown) as host:
        client = await RawClient.open(host.server.path, greet=False)
        (refused,) = await client.rest()
        assert refused["error"]["code"] == "peer_refused"
        await client.close()


async def test_a_long_home_is_served_elsewhere(tmp_path: Path) -> None:
    """A home whose path is too long for a socket is served from a private folder, and found there."""
    from runwright.engine.client import AsyncClient, find_host

    home = tmp_path.joinpath(*["x" * 50] * 3)
    async with served(home) as host:
        folder = host.server.path.parent
        assert not host.server.path.is_relative_to(home)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert find_host(home) == host.server.path
        async with await AsyncClient.connect(home) as client:
            assert (await client.log_head())["position"] > 0
    assert not folder.exists()


async def test_a_client_that_reads_nothing_holds_nobody_up(tmp_path: Path) -> None:
    """A server closes in time although a client takes nothing of what it asked for."""
    async with served(tmp_path / "home") as host:
        client = await RawClient.open(host.server.path)
        for number in range(400):
            await client.call("projection.list", str(number))
            if client.writer.transport.get_write_buffer_size():
                break
        other = await RawClient.open(host.server.path)
        await other.call("log.head")
        assert (await other.reply())["outcome"] == "accepted"
        await other.close()
    client.writer.transport.abort()


async def test_a_host_out_of_descriptors_serves_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that cannot be taken just now is taken as soon as it can be, and those there are go on."""
    async with served(tmp_path / "home") as host:
        first = await RawClient.open(host.server.path)
        full = asyncio.Event()
        accept = host.server._socket.accept

        class Full:
            """A socket of a process that may open no more."""

            def accept(self) -> Any:
                """Refuse once, then as ever."""
                if full.is_set():
                    return accept()
                full.set()
                raise OSError(errno.EMFILE, "SECRET")

            def __getattr__(self, name: str) -> Any:
                return getattr(own, name)

        own = host.server._socket
        monkeypatch.setattr(host.server, "_socket", Full())
        second = await RawClient.open(host.server.path)
        assert full.is_set()
        for client in (first, second):
            await client.call("log.head")
            assert (await client.reply())["outcome"] == "accepted"
            await client.close()
