"""The controlling terminal: where a person is shown something and types, whatever the streams lead to."""

import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Final

from runwright.cli.rendering.text import clean

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

#: Where every process finds the terminal that it belongs to.
_PLACE: Final = "/dev/tty"
#: Seconds between two looks whether the question still stands.
_LOOK: Final = 0.25
#: More than a line of a terminal holds.
_LINE: Final = 65_536


class NoMoreInput(Exception):
    """Somebody ended the terminal's input: there will be no answer."""


class Terminal:
    """The terminal of this process's session.

    Args:
        descriptor: It, open for both reading and writing.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    @cached_property
    def console(self) -> "Console":
        """Draws on it."""
        from rich.console import Console

        file = os.fdopen(os.dup(self._descriptor), "w", encoding="utf-8", errors="backslashreplace")
        return Console(file=file, highlight=False, markup=False, emoji=False, force_terminal=True)

    def show(self, *renderables: "RenderableType") -> None:
        """Show something; what comes from data has been made safe before."""
        for each in renderables:
            self.console.print(each)
        self.console.file.flush()

    def ask(self, prompt: str, stands: Callable[[], bool]) -> str | None:
        """Read one line.

        Args:
            prompt: What stands before it.
            stands: Whether the question still stands; asked several times a second.

        Returns:
            The line; ``None`` once the question stands no more.

        Raises:
            NoMoreInput: The input was ended.
        """
        while True:
            self._write(clean(prompt))
            try:
                line = self._line(stands)
            except (NoMoreInput, KeyboardInterrupt):
                self._write("\n")  # what is said next begins a line of its own
                raise
            if line is None:
                self._write("\n")
                return None
            try:
                return line.decode("utf-8").strip()
            except UnicodeDecodeError:
                self._write("That is no text in UTF-8.\n")

    def close(self) -> None:
        """Let it go."""
        if "console" in self.__dict__:
            self.console.file.close()
        os.close(self._descriptor)

    def _write(self, text: str) -> None:
        self.console.file.write(text)
        self.console.file.flush()

    def _line(self, stands: Callable[[], bool]) -> bytes | None:
        while b"\n" not in self._rest:
            if not stands():
                return None
            ready, _, _ = select.select([self._descriptor], [], [], _LOOK)
            if not ready:
                continue
            part = os.read(self._descriptor, _LINE)
            if not part:
                raise NoMoreInput
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line


@contextmanager
def controlling_terminal() -> Iterator[Terminal | None]:
    """The terminal of this process's session; ``None`` where it has none."""
    try:
        descriptor = os.open(_PLACE, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        yield None  # no terminal, or one that this process may not use: there is nobody to ask
        return
    terminal = Terminal(descriptor)
    try:
        yield terminal
    finally:
        terminal.close()
