"""What tells a store from a copy of it: ``store.id`` beside the log.

Two hosts that carry on from the same log would both repeat its effects. So a store is writable only where
its ``store.id`` names this very file and a head that the log still holds; whatever was copied, restored or
imported is read-only until somebody adopts it (page 02, "Export and import").
"""

import enum
import errno
import os
from collections.abc import Callable
from pathlib import Path

import sqlalchemy
from sqlalchemy import bindparam, select

from runwright.eventstore import database, opening, store_id
from runwright.eventstore.chain import genesis
from runwright.eventstore.database import Statement
from runwright.eventstore.envelope import Head
from runwright.eventstore.errors import StoreFull, StoreReadonly, StoreUnavailable
from runwright.eventstore.home import Home, check_file, create_file, sync_folder
from runwright.eventstore.table import events
from runwright.eventstore.transaction import read_head
from runwright.eventstore.transfer.text import write_text
from runwright.eventstore.values import JsonObject

_HASH = Statement.of(select(events.c.hash).where(events.c.position == bindparam("position")))


class Standing(enum.Enum):
    """What ``store.id`` says of the log beside it; the value completes the sentence "the store is read-only"."""

    OWN = "it is this store's own"
    MISSING = "it has no store.id, so it was copied, restored or imported"
    UNREADABLE = "its store.id cannot be read"
    OTHER_LOG = "its store.id belongs to another log"
    OTHER_FILE = "its file was copied or replaced"
    BEHIND = "it is older than what was last written here"
    OTHER_HEAD = "its events are not the ones that were last written here"


def check(home: Home, log_id: str, head: Head, hash_at: Callable[[int], bytes | None]) -> Standing:
    """Tell whether a store is its own, changing nothing.

    Args:
        home: Where the store stands.
        log_id: The ID of its log.
        head: Its head.
        hash_at: Answers the hash of the event at a position.

    Returns:
        `Standing.OWN`, or why it may not be written.

    Raises:
        UnsafeHome: ``store.id`` is a link, or others can reach it.
    """
    check_file(home.store_id)
    try:
        found = store_id.read(home.store_id)
    except FileNotFoundError:
        return Standing.MISSING
    if found is None:
        return Standing.UNREADABLE
    if found.log_id != log_id:
        return Standing.OTHER_LOG
    if found.inode != home.log.stat().st_ino:
        return Standing.OTHER_FILE
    if found.head.position > head.position:
        return Standing.BEHIND
    if hash_at(found.head.position) != found.head.hash:
        return Standing.OTHER_HEAD
    return Standing.OWN


def standing(home: Home, connection: sqlalchemy.Connection) -> Standing:
    """Tell whether the store behind a connection is its own; the same as `check`, from the log's own rows."""
    log_id = opening.read_log_id(home.log, connection)
    head = read_head(connection) or Head(0, genesis(log_id))

    def hash_at(position: int) -> bytes | None:
        if position == 0:
            return genesis(log_id)
        rows = database.execute(connection, _HASH, (position,))
        return rows[0][0] if rows else None

    return check(home, log_id, head, hash_at)


def require_own(home: Home, connection: sqlalchemy.Connection) -> None:
    """Let nobody write a store that was copied, restored or imported.

    Raises:
        StoreReadonly: It is not its own; the reason says why, the hint how to adopt it.
    """
    found = standing(home, connection)
    if found is not Standing.OWN:
        raise StoreReadonly(found.value)


def write(home: Home, log_id: str, head: Head, *, log: Path | None = None) -> None:
    """Write ``store.id`` anew: durable, 0600, and never half written.

    Args:
        home: Where the store stands.
        log_id: The ID of its log.
        head: Its committed head.
        log: The log's file while it still has another name.

    Raises:
        StoreFull: The disk takes no more.
        StoreUnavailable: It cannot be written for another reason.
    """
    try:
        _replace(home, log_id, head, log or home.log)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise StoreFull(home.store_id) from None
        raise StoreUnavailable("store.id cannot be written") from None


def _replace(home: Home, log_id: str, head: Head, log: Path) -> None:
    stat = log.stat()
    content: JsonObject = {
        "device": stat.st_dev,
        "hash": head.hash.hex(),
        "inode": stat.st_ino,
        "log_id": log_id,
        "position": head.position,
    }
    fresh = home.store_id.with_name(f"{home.store_id.name}.new")
    fresh.unlink(missing_ok=True)  # left by a crash; there is one holder, so nobody else writes it
    descriptor = create_file(fresh)
    try:
        os.write(descriptor, (write_text(content) + "\n").encode())
        os.fsync(descriptor)
        fresh.replace(home.store_id)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    sync_folder(home.path)
