"""Hosts in processes of their own, started as a person's command would, and stopped by their process ID."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from runwright.engine.client.client import Client
from runwright.engine.client.connect import find_host
from runwright.engine.host.starting import start_host
from runwright.eventstore.home import Home
from runwright.eventstore.lock import holder

_MAIN = """
import json, sys
from pathlib import Path
from runwright.engine.host.host import HostSettings, run_host
run_host(Path(sys.argv[1]), HostSettings(**json.loads(sys.argv[2])))
"""


def command(home: Path, **settings: object) -> Sequence[str]:
    """What starts a host with these settings."""
    return [sys.executable, "-c", _MAIN, str(home), json.dumps(settings)]


def pid_of(home: Path) -> int:
    """The process that holds the store."""
    pid = holder(Home(home))
    assert pid is not None
    return pid


def wait_for_end(pid: int, seconds: float = 30.0) -> None:
    """Wait until a process that may be nobody's child is gone."""
    descriptor = os.pidfd_open(pid)
    try:
        import select

        assert select.select([descriptor], [], [], seconds)[0], "the process lives on"
    finally:
        os.close(descriptor)


def kill(home: Path) -> None:
    """Kill a host, and see its end."""
    pid = pid_of(home)
    descriptor = os.pidfd_open(pid)
    os.close(descriptor)
    os.kill(pid, signal.SIGKILL)


@contextmanager
def host(home: Path, **settings: object) -> Iterator[Client]:
    """A host in the background and a client of it; it is gone when the block ends."""
    start_host(home, command=command(home, **settings))
    try:
        with Client.connect(home) as client:
            yield client
    finally:
        stop(home)


def stop(home: Path) -> None:
    """Stop the host of a home, if there is one, and wait until it is gone."""
    if find_host(home) is None:
        return
    pid = pid_of(home)
    descriptor = os.pidfd_open(pid)
    try:
        os.kill(pid, signal.SIGTERM)
        import select

        assert select.select([descriptor], [], [], 60)[0], "the host does not stop"
    finally:
        os.close(descriptor)


__all__ = ["command", "host", "kill", "pid_of", "stop", "subprocess", "wait_for_end"]
