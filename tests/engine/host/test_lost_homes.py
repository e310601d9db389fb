"""Hosts whose state directory is taken away: they leave by themselves, say so, and touch nothing that came after."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runwright.engine import process_table
from runwright.engine.client.client import Client
from runwright.engine.host.starting import start_host
from runwright.engine.protocol.errors import HostUnavailable
from runwright.eventstore.errors import StoreUnavailable
from runwright.eventstore.home import Home
from runwright.eventstore.lock import holder
from support.hosts import command, left_of, wait

FLOW = '''
"""A node that waits for a file, and one that asks somebody."""
import time

from runwright import Context, JsonObject, Workflow

waits = Workflow("waits")
asks = Workflow("asks")

@waits.compute
def node(ctx: Context[JsonObject]) -> int:
    (ctx.cwd / "there").touch()
    while not (ctx.cwd / "go").exists():
        time.sleep(0.01)
    return 1

@asks.agent
def ask(ctx: Context[JsonObject]) -> str:
    return "What?"

waits.entry(node)
asks.entry(ask)
'''


class Lost:
    """A host that never leaves for want of work, whose home can be taken away.

    Attributes:
        home: The home.
        project: A project.
        pid: The host's process.
    """

    def __init__(self, folder: Path, look: float) -> None:
        self.home, self.project = folder / "home", folder / "project"
        (self.project / ".runwright").mkdir(parents=True)
        (self.project / "flow.py").write_text(FLOW)
        start_host(self.home, command=command(self.home, idle_exit=0, look=look, grace=0.1))
        pid = holder(Home(self.home))
        assert pid is not None
        self.pid = pid
        self._log = os.open(self.home / "host.log", os.O_RDONLY)

    def start(self, client: Client, flow: str) -> str:
        """Start a run."""
        agents = {"default": "console"} if flow == "asks" else {}
        value = client.run_start(f"flow.py:{flow}", {}, cwd=self.project, project=self.project, agents=agents).value
        return str(value)

    def left(self) -> str:
        """Wait until the host and everything of it has ended; what its log said."""
        wait(lambda: (found := process_table.look(self.pid)) is None or found.ended)
        wait(lambda: left_of(self.project) == [])
        return os.pread(self._log, 65536, 0).decode()

    def close(self) -> None:
        """Let go of its log."""
        os.close(self._log)


@contextmanager
def lost(tmp_path: Path, look: float = 0.2) -> Iterator[Lost]:
    """A host, and nothing of it afterwards."""
    found = Lost(tmp_path, look)
    try:
        yield found
    finally:
        found.close()
    assert left_of(tmp_path) == []


def stop(home: Path) -> None:
    """Stop the host of a home."""
    with Client.connect(home) as client:
        client.host_stop()
    wait(lambda: left_of(home) == [])


@pytest.mark.parametrize("attended", [False, True])
@pytest.mark.parametrize("flow", [None, "asks", "waits"])
def test_a_host_whose_home_is_removed_leaves(tmp_path: Path, flow: str | None, attended: bool) -> None:
    """Idle, with a run that waits for somebody or one at work, and with somebody connected who asks for nothing."""
    with lost(tmp_path) as at, Client.connect(at.home) as client:
        if flow is not None:
            run_id = at.start(client, flow)
            wait(lambda: client.run_status(run_id)["status"] == "waiting" or (at.project / "there").exists())
        if not attended:
            client.close()
        shutil.rmtree(at.home)
        said = at.left()
        assert "its files were removed or replaced while it was open" in said
        assert not at.home.exists()


def test_a_host_whose_home_is_removed_promises_nothing_more(tmp_path: Path) -> None:
    """What is asked of it next is not acknowledged; it does not wait for its look to leave."""
    with lost(tmp_path, look=3600.0) as at, Client.connect(at.home, patience=0.1) as client:
        shutil.rmtree(at.home)
        with pytest.raises((HostUnavailable, StoreUnavailable)):
            at.start(client, "asks")
        at.left()


def test_a_host_whose_home_was_replaced_leaves_the_other_one_alone(tmp_path: Path) -> None:
    """Its successor has a lock, a store and a socket of the same names, and keeps them."""
    with lost(tmp_path) as at:
        shutil.rmtree(at.home)
        start_host(at.home, command=command(at.home))
        at.left()
        with Client.connect(at.home) as client:
            assert client.host_status()["state"] == "serving"
        stop(at.home)


def test_a_home_that_was_moved_is_served_where_it_stands_now(tmp_path: Path) -> None:
    """The old host leaves, says so in the log that moved along, and the next one finds everything."""
    elsewhere = tmp_path / "elsewhere"
    with lost(tmp_path) as at:
        with Client.connect(at.home) as client:
            run_id = at.start(client, "asks")
            wait(lambda: client.run_status(run_id)["status"] == "waiting")
        at.home.rename(elsewhere)
        at.left()
        assert "was open" in (elsewhere / "host.log").read_text()
        start_host(elsewhere, command=command(elsewhere))
        with Client.connect(elsewhere) as client:
            assert client.run_status(run_id)["status"] == "waiting"
        stop(elsewhere)
