"""``host.log``: what a host that runs in the background has to say; private to its user, and bounded."""

import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from runwright.eventstore.home import check_file

#: Bytes after which the log is put aside and begun anew; what was put aside before that goes.
LIMIT: Final = 1024 * 1024


class HostLog(logging.Handler):
    """Writes one line for each record, with codes and IDs and no private value: nothing else is ever logged.

    Args:
        path: The file.
        limit: The most bytes of it.

    Raises:
        UnsafeHome: Something else stands there, or others can read it.
    """

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        super().__init__(logging.INFO)
        self._path = path
        self._limit = limit
        self._descriptor = _open(path)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        line = f"{_time(record.created)} {record.levelname.lower()} {record.getMessage()}\n".encode()
        with suppress(OSError):  # where the disk takes none, the host goes on without
            if os.fstat(self._descriptor).st_size + len(line) > self._limit:
                self._turn()
            os.write(self._descriptor, line)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        super().close()

    def _turn(self) -> None:
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        os.close(self._descriptor)
        self._descriptor = _open(self._path)


def _open(path: Path) -> int:
    check_file(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    return descriptor


def _time(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds * 1000) % 1000:03}Z"
