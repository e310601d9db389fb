"""Keeps stdout for the answer: while user code is at work here, what it prints goes to its run's log and to stderr.

A run's functions print, their C extensions write to file descriptor 1, and the processes they begin inherit it. So
both descriptors lead into a pipe, and the command's own words go to copies of them that nobody else knows.
"""

import io
import os
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from runwright.cli.output import Output
from runwright.cli.rendering.text import cut

if TYPE_CHECKING:
    from runwright.engine.execution.speaking import Speaker

#: Told whose line it is (a node's path, empty where nobody can tell) and the line.
Hear = Callable[[str, str], None]

#: Seconds to wait for what was printed to come through the pipe.
_PATIENCE = 2.0
#: A line that is longer is cut on the screen, and told in parts.
_LINE = 2_000
_LONGEST = 64 * 1024


class Diversion:
    """What is printed while user code may be at work.

    Attributes:
        hear: Is told each line that was printed; by default it is said on stderr as it is.
        of_process: Whether the process's own streams are diverted, and not those that a program put in their place.
        descriptor: Where what is printed goes.
    """

    def __init__(self, out: Output) -> None:
        self._out = out
        self.hear: Hear = self.tell
        self.of_process = False
        self._read, self.descriptor = os.pipe()
        self._marks: dict[bytes, threading.Event] = {}

    def tell(self, path: str, line: str) -> None:  # noqa: ARG002 (one of the forms of `hear`)
        """Say a line on stderr."""
        self._out.say(cut(line, _LINE))

    def settle(self) -> None:
        """Wait until everything that was printed before has been told."""
        mark = secrets.token_hex(8).encode()
        came = self._marks[mark] = threading.Event()
        with suppress(OSError):
            os.write(self.descriptor, b"\0" + mark + b"\n")
        came.wait(_PATIENCE)

    def told(self, speaker: "Speaker | None", lines: list[str]) -> None:
        """Take whole lines; those of a speaker stand in its run's log already."""
        for line in lines:
            self.hear("" if speaker is None else speaker.path, line)

    def listen(self) -> None:
        """Take what comes through the pipe, in a thread, until nobody can write into it any more."""
        threading.Thread(target=self._listen, name="runwright-printed", daemon=True).start()

    def _listen(self) -> None:
        rest = b""
        while part := os.read(self._read, 65536):
            *lines, rest = (rest + part).split(b"\n")
            if len(rest) > _LONGEST:
                lines, rest = [*lines, rest], b""
            for line in lines:
                printed, _, mark = line.rpartition(b"\0")
                settled = self._marks.pop(mark, None)
                if settled is None:
                    self._heard(line)
                    continue
                if printed:
                    self._heard(printed)
                settled.set()
        os.close(self._read)

    def _heard(self, raw: bytes) -> None:
        from runwright.engine.execution.speaking import speakers_at_work

        line, working = raw.decode("utf-8", "replace"), speakers_at_work()
        # A descriptor does not say who wrote to it: where several are at work, each log has the line.
        for each in working:
            each.line(line)
        self.hear(working[0].path if len(working) == 1 else "", line)


class _Printed(io.TextIOWrapper):
    """Stands in for ``sys.stdout`` or ``sys.stderr``: knows who prints, where a descriptor does not."""

    def __init__(self, diversion: Diversion, descriptor: int) -> None:
        raw = io.FileIO(descriptor, "w", closefd=False)
        super().__init__(io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True, write_through=True)
        self._diversion = diversion
        self._pid = os.getpid()

    def write(self, text: str) -> int:
        """Print."""
        from runwright.engine.execution.speaking import current_speaker

        speaker = current_speaker()
        if speaker is None or os.getpid() != self._pid:
            written = super().write(text)
            self.flush()
            return written
        self._diversion.told(speaker, speaker.write(text))
        return len(text)


@contextmanager
def diverted(out: Output) -> Iterator[Diversion]:
    """Lead both streams aside for as long as this lasts; the command's own output goes on where it went."""
    diversion = Diversion(out)
    printing, own = (sys.stdout, sys.stderr), (out.stdout, out.stderr)
    for stream in (*printing, *own):
        stream.flush()
    copies = {number: os.dup(number) for number in (1, 2) if _is_open(number)}
    diversion.of_process = _descriptor(out.stdout) in copies
    moved = [_moved(stream, copies) for stream in own]
    out.move(*moved)
    for number in copies:
        os.dup2(diversion.descriptor, number)
    diversion.listen()
    sys.stdout, sys.stderr = _Printed(diversion, 1), _Printed(diversion, 2)
    try:
        yield diversion
    finally:
        diversion.settle()
        sys.stdout, sys.stderr = printing
        for number, copy in copies.items():
            os.dup2(copy, number)
        os.close(diversion.descriptor)
        out.move(*own)
        try:
            for stream in moved:
                stream.flush()
        except BrokenPipeError:
            for copy in copies.values():  # what is left in the buffer must not fail once more when it is dropped
                os.dup2(os.open(os.devnull, os.O_WRONLY), copy)
            raise
        finally:
            for copy in copies.values():
                os.close(copy)


def _moved(stream: TextIO, copies: dict[int, int]) -> TextIO:
    """The same stream on the copy of its descriptor; itself where it stands on neither."""
    copy = copies.get(_descriptor(stream) or 0)
    if copy is None:
        return stream
    encoding = stream.encoding or "utf-8"
    return open(copy, "w", encoding=encoding, errors="backslashreplace", closefd=False)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
