"""The kernel lock that makes one process the holder of a store."""

import fcntl
import os
import time

from runwright.eventstore import forks
from runwright.eventstore.errors import StoreInUse
from runwright.eventstore.home import Home, check_file

#: Between two looks at a held lock, while a caller is willing to wait (seconds).
_PAUSE = 0.05


class StoreLock:
    """A held lock on ``host.lock``; the file stays when it is released, and only its text names the holder."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        forks.watch(self)

    @classmethod
    def take(cls, home: Home, *, wait: float | None = None) -> "StoreLock":
        """Take the lock.

        Args:
            home: The checked state directory.
            wait: For how many seconds to wait for another holder; ``None`` not at all.

        Raises:
            StoreInUse: Another process, or another handle of this one, holds it.
            UnsafeHome: Something else stands where the lock file should be.
        """
        until = time.monotonic() + (wait or 0)
        while (descriptor := _try(home)) is None:
            if time.monotonic() >= until:
                raise StoreInUse(holder(home))
            time.sleep(_PAUSE)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor)

    def is_named(self, home: Home) -> bool:
        """Whether the lock is still the one of the directory's name: another one may stand there, or nothing."""
        try:
            return self._descriptor is not None and _still_named(self._descriptor, home)
        except OSError:
            return True  # nobody can look now, which says nothing

    def release(self) -> None:
        """Give the lock back; twice does no harm."""
        if self._descriptor is not None:
            # Unlocking, not only closing: a child that is just being started shares the descriptor until its exec.
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = None

    def forked(self) -> None:
        """Close the child's descriptor; unlocking through it would take the lock from the parent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def holder(home: Home) -> int | None:
    """Answer the process ID in the lock file's text; only meaningful to one that could not lock it."""
    try:
        text = home.lock.read_text("ascii", errors="replace").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() and text.isascii() else None


def given_back(home: Home, pid: int | None, *, wait: float) -> bool:
    """Wait until a process holds the store no more; whether it is so.

    Args:
        home: The state directory.
        pid: The process, as `holder` named it.
        wait: Seconds to wait at most.
    """
    until = time.monotonic() + wait
    while (descriptor := _try(home)) is None and holder(home) == pid:
        if time.monotonic() >= until:
            return False
        time.sleep(_PAUSE)
    if descriptor is not None:
        os.close(descriptor)
    return True


def _try(home: Home) -> int | None:
    check_file(home.lock)
    descriptor = os.open(home.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    # A lock on a file that is no longer the one of that name protects nothing.
    if not _still_named(descriptor, home):
        os.close(descriptor)
        return None
    os.fchmod(descriptor, 0o600)
    return descriptor


def _still_named(descriptor: int, home: Home) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), home.lock.stat())
    except (FileNotFoundError, NotADirectoryError):
        return False
