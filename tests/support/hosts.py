"""Hosts in processes of their own, started as somebody's command would, and stopped by their process ID."""

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from runwright.engine import process_table
from runwright.engine.client.client import Client
from runwright.engine.client.connect import find_host
from runwright.engine.host.starting import start_host
from runwright.eventstore.home import Home
from runwright.eventstore.lock import holder

#: Seconds after which a test gives up waiting for something that has to come.
PATIENCE = 60.0

_MAIN = """
import json, sys
from pathlib import Path
from runwright.engine.host import holding, resolver
from runwright.engine.host.host import run_host
from runwright.engine.host.settings import HostSettings
from runwright.engine.transitions.leases import Leases
settings = json.loads(sys.argv[2])
Leases.__init__.__kwdefaults__["seconds"] = settings.pop("lease", 30.0)
resolver.RESOLVE = settings.pop("resolve", resolver.RESOLVE)
holding.IDLE_EXIT = settings.pop("look", holding.IDLE_EXIT)
run_host(Path(sys.argv[1]), HostSettings(**settings))
"""


def command(home: Path, **settings: object) -> Sequence[str]:
    """What starts a host with these settings.

    Beside them: ``lease`` is how long one lasts there, ``resolve`` how long a question about code may take, ``look``
    how often one that never leaves for want of work looks whether its store is still there.
    """
    return [sys.executable, "-c", _MAIN, str(home), json.dumps(settings)]


@frozen
class Hosted:
    """A home with a host, and a project with workflows.

    Attributes:
        home: The state directory.
        project: The project.
        client: A client of the host.
        settings: How a host is run here.
    """

    home: Path
    project: Path
    client: Client
    settings: dict[str, object]

    def start(self, workflow: str, **input: Any) -> str:
        """Start a run."""
        result = self.client.run_start(workflow, input, cwd=self.project, project=self.project)
        return result.value

    def status(self, run_id: str) -> dict[str, Any]:
        """How a run stands."""
        return dict(self.client.run_status(run_id))

    def until(self, run_id: str, there: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until a run stands as it should."""
        found: list[dict[str, Any]] = []

        def look() -> bool:
            found[:] = [self.status(run_id)]
            return there(found[0])

        wait(look, lambda: str(found))
        return found[0]

    def ended(self, run_id: str) -> dict[str, Any]:
        """Wait until a run has ended."""
        return self.until(run_id, lambda status: status["finished_at"] is not None)

    def parked(self, run_id: str, reason: str) -> dict[str, Any]:
        """Wait until a run is parked for a reason."""
        return self.until(run_id, lambda status: (status["reason"] or {}).get("code") == reason)

    def running(self, run_id: str, node: str) -> dict[str, Any]:
        """Wait until a node of a run is at work."""
        return self.until(run_id, lambda status: status["queue_state"] == "running" and status["node"] == node)

    def workers(self) -> list[str | None]:
        """How each worker ended, in the order of their launches; ``None`` for one that lives."""
        items = self.client.projection_query("workers", limit=100)["items"]
        assert isinstance(items, list)
        return [each["outcome"] for each in sorted(items, key=lambda each: each["worker"])]

    @property
    def pid(self) -> int:
        """The host's process."""
        pid = holder(Home(self.home))
        assert pid is not None
        return pid

    def kill(self) -> None:
        """Kill the host, and see its end."""
        _end(self.pid, signal.SIGKILL)

    def start_again(self) -> None:
        """Start another host."""
        start_host(self.home, command=command(self.home, **self.settings))


@contextmanager
def hosted(tmp_path: Path, **settings: object) -> Iterator[Hosted]:
    """A host in the background; nothing of it is left when the block ends."""
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".runwright").mkdir(parents=True)
    start_host(home, command=command(home, **settings))
    try:
        with Client.connect(home) as client:
            yield Hosted(home, project, client, settings)
    finally:
        if find_host(home) is not None:
            pid = holder(Home(home))
            assert pid is not None
            _end(pid, signal.SIGTERM)
    assert left_of(tmp_path) == []


def left_of(folder: Path) -> list[int]:
    """Living processes that stand in a folder or below: nothing of a test may go on after it."""
    found = []
    for each in process_table.every():
        try:
            stands = Path(f"/proc/{each.pid}/cwd").readlink()
        except OSError:
            continue
        if not each.ended and each.pid != os.getpid() and stands.is_relative_to(folder):
            found.append(each.pid)
    return found


def wait(there: Callable[[], bool], why: Callable[[], str] = lambda: "") -> None:
    """Wait until something is so; a host is asked, so there is nothing to be woken by."""
    until = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < until, why()
        time.sleep(0.01)


def _end(pid: int, number: signal.Signals) -> None:
    descriptor = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(descriptor, number)
        assert select.select([descriptor], [], [], PATIENCE)[0], "the host does not end"
    finally:
        os.close(descriptor)
