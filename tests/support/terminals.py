"""A terminal of its own for a command, with somebody who reads what stands there and types."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Self

#: Seconds that something to appear may take on a machine that has much else to do.
LIMIT = 60.0

_STEERING = re.compile(rb"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07)")


class AtTerminal:
    """A command in a session of its own whose controlling terminal is ours.

    Args:
        line: What stands behind ``runwright``.
        cwd: Where it runs.
        piped: Whether its own streams lead elsewhere, so that only the terminal itself is left.
    """

    def __init__(self, *line: str, cwd: Path, environment: dict[str, str], piped: bool = False) -> None:
        self._ours, theirs = pty.openpty()
        self._theirs = theirs  # open until the end: a terminal that nobody holds for a moment is hung up
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        name = os.ttyname(theirs)
        streams = subprocess.PIPE if piped else theirs
        self._process = subprocess.Popen(
            [sys.executable, "-m", "runwright.cli.main", *line],
            cwd=cwd,
            env={**environment, "TERM": "xterm"},
            stdin=subprocess.DEVNULL if piped else theirs,
            stdout=streams,
            stderr=streams,
            start_new_session=True,
            preexec_fn=lambda: os.close(os.open(name, os.O_RDWR)),  # the first that a session opens is its own
        )
        self._raw = b""
        self._seen = 0

    @property
    def screen(self) -> str:
        """Everything that stood there so far, without what moved the cursor or coloured it."""
        return _STEERING.sub(b"", self._raw).decode("utf-8", "replace").replace("\r\n", "\n")

    @property
    def raw(self) -> bytes:
        """The same as it came."""
        return self._raw

    def see(self, text: str) -> Self:
        """Wait until something new stands there."""
        until = time.monotonic() + LIMIT
        while text not in self.screen[self._seen :]:
            assert time.monotonic() < until, f"{text!r} never came: {self.screen[self._seen :]}"
            assert self._read() or text in self.screen[self._seen :], f"{text!r} never came: {self.screen}"
        self._seen = self.screen.index(text, self._seen) + len(text)
        return self

    def type(self, line: str) -> Self:
        """Type a line."""
        os.write(self._ours, f"{line}\n".encode())
        return self

    def press(self, key: bytes) -> Self:
        """Press a key, Ctrl-C for one."""
        os.write(self._ours, key)
        return self

    def end(self, code: int = 0) -> str:
        """Wait until the command has ended, and check its exit code; what stood on the terminal."""
        while self._read():
            pass
        out, err = self._process.communicate(timeout=LIMIT)
        assert self._process.returncode == code, (self._process.returncode, self.screen, out, err)
        return self.screen

    def close(self) -> None:
        """End it, whatever it is at."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        for each in (self._ours, self._theirs):
            os.close(each)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> bool:
        """Take what is there, as soon as something is; false once the command has ended and all was taken."""
        until = time.monotonic() + LIMIT
        while True:
            ended = self._process.poll() is not None
            ready, _, _ = select.select([self._ours], [], [], 0 if ended else 0.05)
            if ready:
                self._raw += os.read(self._ours, 65536)
                return True
            if ended:
                return False
            assert time.monotonic() < until, f"nothing more came: {self.screen}"
