"""Starting a host where a client finds none."""

from pathlib import Path


def start_host(home: Path) -> None:
    """Start a host in the background, and wait until it serves.

    Raises:
        EngineError: It does not, and why.
    """
    from runwright.engine.host.starting import start_host as start

    start(home)
