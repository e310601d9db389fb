"""Where a host's socket stands: in its state directory, or where that path is too long, in a private folder."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from runwright.eventstore.errors import UnsafeHome, UnusableHome
from runwright.eventstore.home import Home

#: Bytes of a path that a socket's address can take, its closing NUL left out.
MOST_BYTES: Final = 103 if sys.platform == "darwin" else 107
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def socket_path(home: Path, log_id: str) -> Path:
    """The path of the socket of the host that holds a store.

    Args:
        home: The state directory.
        log_id: The ID of its log, which names the socket where it cannot stand in the directory.

    Raises:
        UnusableHome: No place is short enough.
        UnsafeHome: The folder that it would stand in is not ours alone.
    """
    inside = Home(home).socket
    if _fits(inside):
        return inside
    for folder in _folders():
        path = folder / f"runwright-{log_id}" / inside.name
        if _fits(path) and folder.is_dir():
            _check(path.parent)
            return path
    raise UnusableHome(home, "its socket's path is too long, and no temporary folder has a shorter one")


def prepare_folder(path: Path) -> None:
    """Make the private folder of a socket that does not stand in the state directory, with mode 0700.

    Raises:
        UnsafeHome: Something else stands there, or others may enter it.
    """
    path.parent.mkdir(mode=0o700, exist_ok=True)
    _check(path.parent)


def _folders() -> Iterator[Path]:
    """Folders that may take a private folder of ours, the user's own first."""
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute():
        yield runtime
    yield Path(tempfile.gettempdir())
    yield Path("/tmp")  # noqa: S108 - what is made in it is named by a random ID, 0700 and checked


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= MOST_BYTES


def _check(folder: Path) -> None:
    """Refuse a folder that somebody else made, or can enter."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeHome(folder, "it is no folder of ours", "Remove it, or use a shorter --home.")
    if found.st_uid != os.geteuid():
        raise UnsafeHome(folder, "it belongs to another user", "Use a shorter --home, or set XDG_RUNTIME_DIR.")
    if found.st_mode & _OTHERS:
        raise UnsafeHome(folder, "others may enter it", f"Run: chmod 700 {folder}")
