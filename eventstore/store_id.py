"""What stands in ``store.id``: which file the store is, and the last head that a holder wrote; reads no database."""

from pathlib import Path
from typing import Final

from attrs import frozen

from runwright.eventstore.envelope import Head
from runwright.eventstore.home import Home
from runwright.eventstore.transfer.text import read_text

_BYTES_MAX: Final = 4096


@frozen(kw_only=True)
class StoreId:
    """The content of ``store.id``.

    Attributes:
        log_id: The log's ID.
        device: The device of ``log.sqlite``; told to people only, because it can change with a reboot.
        inode: The inode of ``log.sqlite``.
        head: The last head that a holder wrote there.
    """

    log_id: str
    device: int
    inode: int
    head: Head


def read(path: Path) -> StoreId | None:
    """Read a ``store.id``; ``None`` where it cannot be read or is none.

    Raises:
        FileNotFoundError: There is no such file.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_BYTES_MAX)
        content = read_text(text.decode())
        if not isinstance(content, dict):
            return None
        device, inode, position = content["device"], content["inode"], content["position"]
        log_id, digest = content["log_id"], content["hash"]
        if not (isinstance(device, int) and isinstance(inode, int) and isinstance(position, int)):
            return None
        if not (isinstance(log_id, str) and isinstance(digest, str)):
            return None
        return StoreId(
            log_id=log_id, device=device, inode=inode, head=Head(position=position, hash=bytes.fromhex(digest))
        )
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError):
        return None


def noted(home: Home) -> Head | None:
    """Answer the last head that a holder wrote into ``store.id``; ``None`` where it tells none."""
    try:
        found = read(home.store_id)
    except FileNotFoundError:
        return None
    return None if found is None else found.head
