"""Does a client get through lost replies, restarted hosts and closed sockets, with each command carried out once?"""

import asyncio
import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from runwright import Adopted, Applied, Context, PreflightError, Workflow
from runwright.engine.client import AsyncClient, Client, find_host
from runwright.engine.client import async_client as async_module
from runwright.engine.client import client as client_module
from runwright.engine.client import connect as reaching
from runwright.engine.protocol.errors import HostUnavailable, PeerRefused
from support.clients import KINDS, connected, ended, taken
from support.relays import Relay
from support.serving import served


def counting() -> Workflow[Any]:
    """A workflow of one node."""
    workflow: Workflow[Any] = Workflow("counts")

    def one(ctx: Context[Any]) -> int:
        """One."""
        return 1

    workflow.entry(workflow.compute(one))
    return workflow


@pytest.mark.parametrize("kind", KINDS)
async def test_a_lost_reply_adopts_the_same_receipt(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command whose reply was lost is given again under its key, and answers what the first one did."""
    workflow = counting()
    async with served(tmp_path / "home", [workflow]) as host:
        first = await host.engine.start(workflow, {})
        await host.engine.wait(first)
        relay = Relay(path=tmp_path / "relay.sock", host=host.server.path)
        await relay.open()
        for module in (async_module, client_module):
            monkeypatch.setattr(module, "place_of", lambda _: relay.path)
        async with connected(kind, host.home) as client:
            relay.lose = 3
            result = await client.run_restart(first)
            assert isinstance(result, Adopted)
            assert relay.lost == 3
            assert len((await host.engine.query("runs")).items) == 2
            relay.lose = 2
            assert (await client.run_status(result.value))["parent_run_id"] == first
        await relay.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_restarted_host_is_found_again(kind: str, tmp_path: Path) -> None:
    """A client and its subscriptions outlive the host: they find the next one, and lose no event."""
    workflow = counting()
    home = tmp_path / "home"
    async with served(home, [workflow]) as host:
        connection = connected(kind, home)
        client = await connection.__aenter__()
        run_id = await host.engine.start(workflow, {})
        await ended(client, run_id)
        events = client.events_subscribe(types=["run.queued"])
        (seen,) = await taken(events, 1)
        epoch = host.holder.epoch
    try:
        waiting = asyncio.create_task(taken(events, 1))
        restarting = asyncio.create_task(client.run_restart(run_id))
        await asyncio.sleep(0)
        async with served(home, [workflow]) as host:
            assert host.holder.epoch != epoch
            result = await restarting
            assert isinstance(result, Applied)
            (following,) = await waiting
            assert following["stream"] == f"run/{result.value}"
            assert following["position"] > seen["position"]
    finally:
        await connection.__aexit__(None, None, None)


@pytest.mark.parametrize("kind", KINDS)
async def test_patience_ends(kind: str, tmp_path: Path) -> None:
    """Where no host comes back in time, the call says so, with the code of a host that is not there."""
    home = tmp_path / "home"
    async with served(home):
        connection = connected(kind, home, patience=0.2)
        client = await connection.__aenter__()
    with pytest.raises(HostUnavailable) as gone:
        await client.log_head()
    assert gone.value.code == "host_unavailable"
    assert str(home) in gone.value.message
    await connection.__aexit__(None, None, None)


async def test_where_no_host_lives(tmp_path: Path) -> None:
    """Without a store, without a host, and with a socket that a dead host left: none is found, and that is said."""
    home = tmp_path / "home"
    assert find_host(home) is None
    with pytest.raises(HostUnavailable):
        Client.connect(home)
    async with served(home) as host:
        assert find_host(home) == host.server.path
    assert find_host(home) is None
    with pytest.raises(HostUnavailable):
        await AsyncClient.connect(home)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(home / "host.sock"))
    dead.close()
    assert find_host(home) is None
    async with served(home) as host:
        assert find_host(home) == host.server.path


@pytest.mark.parametrize("kind", KINDS)
async def test_a_host_is_started_where_none_lives(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `start` a host is started when there is none, first and later; without it none is."""
    home = tmp_path / "home"
    started = asyncio.Event()
    loop = asyncio.get_running_loop()
    ready = threading.Event()

    def start(place: Path) -> None:
        assert place == home
        loop.call_soon_threadsafe(started.set)
        assert ready.wait(30)

    for module in (async_module, client_module):
        monkeypatch.setattr(module, "start_host", start)
    connection = connected(kind, home, start=True)
    connecting = asyncio.create_task(connection.__aenter__())
    await started.wait()
    async with served(home):
        ready.set()
        client = await connecting
        assert (await client.log_head())["position"] > 0
        await connection.__aexit__(None, None, None)


async def test_many_threads_share_a_client(tmp_path: Path) -> None:
    """A blocking client is asked from many threads, an asynchronous one many things at once: each gets its answer."""
    workflow = counting()
    async with served(tmp_path / "home", [workflow]) as host:
        run_ids = [await host.engine.start(workflow, {}) for _ in range(4)]
        for run_id in run_ids:
            await host.engine.wait(run_id)
        for kind in KINDS:
            async with connected(kind, host.home) as client:
                found = await asyncio.gather(*(client.run_status(run_id) for run_id in run_ids * 10))
                assert [each["run_id"] for each in found] == run_ids * 10


FLOW = '''"""A workflow that a host can find."""

from runwright import Context, JsonObject, Workflow

workflow = Workflow("found", input=JsonObject)


@workflow.compute
def one(ctx: Context[JsonObject]) -> int:
    """One."""
    return 1


workflow.entry(one)
'''


@pytest.mark.parametrize("kind", KINDS)
async def test_a_repeat_needs_no_file(kind: str, tmp_path: Path) -> None:
    """A start whose reply was lost is adopted also when its file is gone meanwhile; anything else is refused."""
    (tmp_path / "found.py").write_text(FLOW)
    home = tmp_path / "home"
    async with served(home) as host, connected(kind, home) as client:
        first = await client.run_start("found.py", {"a": 1}, cwd=tmp_path, key="k")
        await host.engine.wait(first.value)
        again = await client.run_restart(first.value, key="r")
        await host.engine.wait(again.value)
        (tmp_path / "found.py").unlink()
        repeats: list[tuple[Any, str]] = [
            (lambda: client.run_start("found.py", {"a": 1}, cwd=tmp_path, key="k"), first.value),
            (lambda: client.run_restart(first.value, key="r"), again.value),
        ]
        for repeat, same in repeats:
            result = await repeat()
            assert isinstance(result, Adopted)
            assert result.value == same
    async with served(home), connected(kind, home) as client:
        assert isinstance(await client.run_restart(first.value, key="r"), Adopted)
        others: list[Any] = [
            lambda: client.run_start("found.py", {"a": 2}, cwd=tmp_path, key="k"),
            lambda: client.run_start("other.py", {"a": 1}, cwd=tmp_path, key="k"),
            lambda: client.run_start("found.py", {"a": 1}, cwd=tmp_path, key="new"),
            lambda: client.run_start("found.py", {"a": 1}, cwd=tmp_path, key="r"),
            lambda: client.run_restart(again.value, key="r"),
        ]
        for otherwise in others:
            with pytest.raises(PreflightError):
                await otherwise()


@pytest.mark.parametrize("kind", KINDS)
async def test_another_users_host_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client says nothing to a socket behind which another user's process listens."""
    async with served(tmp_path / "home") as host:
        monkeypatch.setattr(reaching, "peer_uid", lambda _: os.geteuid() + 1)
        with pytest.raises(PeerRefused):
            async with connected(kind, host.home):
                pass
        with pytest.raises(PeerRefused):
            find_host(host.home)
