"""The run's private output log: what its functions log and its commands say on stderr, bounded."""

import logging
import os
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from runwright.engine.clock import SystemClock
from runwright.engine.safe import cut, mask, strike

#: The most bytes that one run's output log takes.
MAX_LOG = 10 * 1024 * 1024
_MAX_LINE = 64 * 1024
_FULL = "the output log is full; what follows was not kept"


class OutputLog:
    """Appends lines to one private file; never raises, for a full disk must not fail a run's functions.

    A line is the time (UTC), its source and its text, with what looks like a secret struck out.
    """

    def __init__(
        self,
        path: Path,
        *,
        limit: int = MAX_LOG,
        now: Callable[[], int] | None = None,
        secrets: Iterable[str] = (),
    ) -> None:
        """Name the file; it is made with the first line.

        Args:
            path: The file.
            limit: The most bytes it takes.
            now: UTC in microseconds; by default the machine's clock.
            secrets: Values to strike out of every line.
        """
        self._path = path
        self._secrets = tuple(secrets)
        self._limit = limit
        self._now = now or SystemClock().now
        self._lock = threading.Lock()
        self._file: int | None = None
        self._closed = False
        self._size = 0

    def line(self, source: str, text: str) -> None:
        """Append a text, each of its lines under its source."""
        if self._size >= self._limit:
            return
        time = datetime.fromtimestamp(self._now() / 1e6, UTC)
        head = f"{time.isoformat(timespec='milliseconds').replace('+00:00', 'Z')} {source}: "
        self._append(head, [cut(each, _MAX_LINE) for each in self._plain(text).splitlines() or [""]])

    def _plain(self, text: str) -> str:
        return mask(strike(text, self._secrets))

    def logger(self, source: str) -> logging.Logger:
        """A logger whose records go here and nowhere else."""
        return _Logger(self, source)

    def close(self) -> None:
        """Close the file; a later line opens it for itself alone."""
        with self._lock:
            self._closed = True
            self._let_go()

    def __enter__(self) -> "OutputLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, head: str, lines: list[str]) -> None:
        with self._lock:
            try:
                file = self._opened()
                room = self._limit - self._size
                if room <= 0:
                    return
                block = "".join(f"{head}{line}\n" for line in lines).encode()
                if len(block) >= room:
                    block = block[: block.rfind(b"\n", 0, room) + 1] + f"{head}{_FULL}\n".encode()
                    self._size = self._limit
                os.write(file, block)
                self._size += len(block)
            except OSError:
                # The log is a courtesy; the run's facts stand in the event log, whose writer reports a full disk.
                return
            finally:
                if self._closed:
                    self._let_go()

    def _let_go(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        if self._file is None:
            self._file = os.open(
                self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
            self._size = os.fstat(self._file).st_size
        return self._file


class _Logger(logging.Logger):
    """Hands its records to the log itself: one is made for each visit, and a handler costs more than all the rest."""

    def __init__(self, log: OutputLog, source: str) -> None:
        super().__init__(source)
        self._output = log

    def handle(self, record: logging.LogRecord) -> None:
        """Write a record that the logger's level and filters let through."""
        if self.disabled or not self.filter(record):
            return
        try:
            text = _FORMATTER.format(record)
        except Exception:  # noqa: BLE001 (arguments that do not fit their format are the user's mistake, and only told)
            text = f"{record.msg} (its arguments do not fit)"
        self._output.line(f"{self.name} {record.levelname}", text)
        if self.handlers:
            self.callHandlers(record)


_FORMATTER = logging.Formatter()
