"""Backup: one verified file, made by SQLite's own copying beside whoever holds the store."""

import os
from collections.abc import Callable
from pathlib import Path

from runwright.eventstore import database, opening, whole
from runwright.eventstore.errors import StoreCorrupt
from runwright.eventstore.home import Home, create_file, sync_folder
from runwright.eventstore.transfer.errors import TargetExists, TargetUnwritable
from runwright.eventstore.verdict import Verdict
from runwright.eventstore.verify import verify_store


def backup(home: Path, target: Path, *, progress: Callable[[int, int], None] | None = None) -> Verdict:
    """Write a copy of the store that holds every event committed before it began, and verify it.

    The file is 0600 from its first byte and gets its name once it is whole and verified. Put in place of a
    store, it is read-only until it is adopted.

    Args:
        home: The state directory; a host may hold it.
        target: The file to write; there must be none.
        progress: Called now and then with the pages copied and their number.

    Returns:
        The verdict over the copy; its head is the one to keep.

    Raises:
        StoreMissing: There is no store.
        TargetExists: Something stands there; it was not touched.
        TargetUnwritable: No file can be written there.
        StoreCorrupt: The copy, and so the store, does not verify; nothing is left behind.
        StoreFull: The disk takes no more; nothing is left behind.
    """
    log = Home(home).log
    opening.check_header(log)
    if os.path.lexists(target):
        raise TargetExists(target)
    part = target.with_name(f"{target.name}.part")
    try:
        os.close(create_file(part))
    except FileExistsError:
        raise TargetExists(part) from None
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
        for suffix in ("", "-journal", "-wal", "-shm"):
            part.with_name(part.name + suffix).unlink(missing_ok=True)
    return verdict


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
