"""What a worker's code prints: kept in the run's output log, under the node that printed it where that shows."""

import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.speaking import current_speaker, speakers_at_work

#: Seconds to wait at the end for what was printed to come through the pipe; a program left behind may hold it open.
_PATIENCE: Final = 2.0
_LONGEST: Final = 64 * 1024
#: The source of what no node printed, as while the workflow is loaded.
NOBODY: Final = "worker"


@contextmanager
def kept(log: OutputLog) -> Iterator[None]:
    """Lead file descriptors 1 and 2 into the log, until this process ends or the block is left."""
    read, write = os.pipe()
    for number in (1, 2):
        os.dup2(write, number)
    os.close(write)
    listener = threading.Thread(target=_listen, args=(read, log), name="runwright-printed", daemon=True)
    listener.start()
    sys.stdout, sys.stderr = _Printed(1), _Printed(2)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):
            os.dup2(nowhere, number)
        os.close(nowhere)
        listener.join(_PATIENCE)


def silence() -> None:
    """Drop what is printed: a resolver has no run that it could belong to."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    sys.stdout, sys.stderr = _Printed(1), _Printed(2)


def _listen(read: int, log: OutputLog) -> None:
    with os.fdopen(read, "rb", buffering=0) as pipe:
        rest = b""
        while part := pipe.read(65536):
            *lines, rest = (rest + part).split(b"\n")
            if len(rest) > _LONGEST:
                lines, rest = [*lines, rest], b""
            for line in lines:
                _keep(line, log)
        if rest:
            _keep(rest, log)


def _keep(raw: bytes, log: OutputLog) -> None:
    """Keep a line; a descriptor does not say who wrote to it, so everybody at work has it."""
    line = raw.decode("utf-8", "replace")
    tell: list[Callable[[str], None]] = [speaker.line for speaker in speakers_at_work()]
    for each in tell or [lambda text: log.line(NOBODY, text)]:
        each(line)


class _Printed(io.TextIOWrapper):
    """Stands in for ``sys.stdout`` or ``sys.stderr``: knows who prints, where a descriptor does not."""

    def __init__(self, descriptor: int) -> None:
        raw = io.FileIO(descriptor, "w", closefd=False)
        super().__init__(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True, write_through=True)
        self._pid = os.getpid()

    def write(self, text: str) -> int:
        """Print."""
        speaker = current_speaker()
        if speaker is None or os.getpid() != self._pid:
            written = super().write(text)
            self.flush()
            return written
        speaker.write(text)
        return len(text)
