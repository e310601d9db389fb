"""Which database files this process has open: closing another descriptor of one would drop SQLite's locks."""

import os
import sqlite3
import threading
from pathlib import Path
from typing import TypeAlias

from runwright.eventstore import forks

Identity: TypeAlias = tuple[int, int]

#: Held while a store is looked at by other means than SQLite, and while a connection to one is made.
opening = threading.RLock()
_connected: dict[Identity, int] = {}
_inherited: set[Identity] = set()


def identity(path: Path | str) -> Identity | None:
    """Answer the device and inode of a file, or ``None`` where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - asked twice before each commit, and a `Path` costs more than the call
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def is_connected(path: Path) -> bool:
    """Tell whether this process has a connection to that file: closing another descriptor drops its locks."""
    return _connected.get(identity(path) or (0, 0), 0) > 0


def is_inherited(path: Path) -> bool:
    """Tell whether the parent of this process had a connection to that file: it cannot be opened here any more."""
    return identity(path) in _inherited


class _Registry:
    """Forgets the parent's connections in a forked child, and refuses their files there for good."""

    def forked(self) -> None:
        global opening
        opening = threading.RLock()
        _inherited.update(_connected)
        _connected.clear()


_registry = _Registry()
forks.watch(_registry)


class CountedConnection(sqlite3.Connection):
    """A driver's connection that counts as open until it is closed, and that a forked child never closes."""

    identity: Identity | None = None
    ours = True

    def count(self, path: Path) -> None:
        """Count as a connection to that file."""
        self.identity = identity(path)
        if self.identity is not None:
            _connected[self.identity] = _connected.get(self.identity, 0) + 1
        forks.watch(self)

    def close(self) -> None:
        """Close, and count no more; in a forked child do nothing."""
        if not self.ours:
            return
        with opening:
            super().close()
            if self.identity is not None:
                _connected[self.identity] -= 1
                self.identity = None

    def forked(self) -> None:
        """Belong to the parent alone from now on."""
        self.ours = False  # Core closes what it finds unused
        forks.keep_for_ever(self)
