"""Backup: one verified file, made by SQLite's own copying beside whoever holds the store."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from runwright.eventstore import database, opening, whole
from runwright.eventstore.errors import StoreCorrupt
from runwright.eventstore.home import Home, check_file, create_file, sync_folder
from runwright.eventstore.transfer.errors import TargetExists, TargetUnwritable
from runwright.eventstore.verdict import Verdict
from runwright.eventstore.verify import verify_store


def backup(home: Path, target: Path, *, progress: Callable[[int, int], None] | None = None) -> Verdict:
    """Write a copy of the store that holds every event committed before it began, and verify it.

    The file is 0600 from its first byte and gets its name once it is whole and verified; what a killed backup left
    of it is written anew. Put in place of a store, it is read-only until it is adopted.

    Args:
        home: The state directory; a host may hold it.
        target: The file to write; there must be none.
        progress: Called now and then with the pages copied and their number.

    Returns:
        The verdict over the copy; its head is the one to keep.

    Raises:
        StoreMissing: There is no store.
        TargetExists: Something stands there, or another backup is just writing it; it was not touched.
        TargetUnwritable: No file can be written there.
        StoreCorrupt: The copy, and so the store, does not verify; nothing is left behind.
        StoreFull: The disk takes no more; nothing is left behind.
    """
    log = Home(home).log
    opening.check_header(log)
    if os.path.lexists(target):
        raise TargetExists(target)
    part = target.with_name(f"{target.name}.runwright.part")
    try:
        held = _take(part)
    except OSError as error:
        raise TargetUnwritable(target, error.strerror or "the system refuses") from None
    try:
        with database.connect_reader(log) as connection:
            whole.copy(connection, part, progress)
        verdict = verify_store(part)
        if not verdict.ok:
            raise StoreCorrupt(log, verdict.detail.removesuffix("."))
        _name(part, target)
    finally:
        _clear(part, "", "-journal", "-wal", "-shm")
        os.close(held)  # at last: closing a descriptor of it sooner would drop SQLite's own locks
    return verdict


def _take(part: Path) -> int:
    """Make the file that is copied into, or take the one that a killed backup left; answer its locked descriptor.

    Raises:
        TargetExists: Another backup writes there.
        UnsafeHome: It is a link, or others may open it.
    """
    try:
        held = create_file(part)
    except FileExistsError:
        check_file(part)
        held = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(held), part.lstat()):
            raise TargetExists(part)  # whoever wrote there has just given it its own name
        os.ftruncate(held, 0)
        _clear(part, "-journal", "-wal", "-shm")  # SQLite would take a journal for one of the new copy
    except BaseException as error:
        os.close(held)
        if isinstance(error, BlockingIOError | FileNotFoundError):
            raise TargetExists(part) from None
        raise
    return held


def _clear(part: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        part.with_name(part.name + suffix).unlink(missing_ok=True)


def _name(part: Path, target: Path) -> None:
    """Make the copy durable, then give it its name."""
    descriptor = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if os.path.lexists(target):
        raise TargetExists(target)
    part.rename(target)
    sync_folder(target.parent)
