"""The terminal as a place where runs ask: where questions are written, and what holds still meanwhile."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO

from runwright.cli.output import Output
from runwright.cli.rendering.text import clean


class Asking(StringIO):
    """Writes on to stderr what cannot steer a terminal, for prompts hold what models and files said.

    Attributes:
        hold: Is told True before somebody is asked and False after the answer, so that nothing is shown between.
    """

    def __init__(self, out: Output) -> None:
        super().__init__()
        self._out = out
        self._turn = threading.Lock()
        self.hold: Callable[[bool], None] = _nothing
        self.open = False

    @property
    def by_form(self) -> bool:
        """Whether somebody sits at this terminal and reads it, so that they are asked field by field."""
        return sys.stdin.isatty() and self._out.at_terminal and not self._out.for_machines

    def write(self, text: str) -> int:
        """Write text made safe."""
        return self._out.stderr.write(clean(text))

    def flush(self) -> None:
        """Flush the terminal's stream."""
        self._out.stderr.flush()

    def remind(self, text: str) -> None:
        """Say something while a question is open, and ask again."""
        from runwright.engine.agents.console import PROMPT

        self.write(f"\n  {text}\n{PROMPT}")
        self.flush()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One question at a time, and nothing else on the terminal until it is answered."""
        with self._turn:
            self.open = True
            self.hold(True)
            try:
                yield
            finally:
                self.open = False
                self.hold(False)


def _nothing(held: bool) -> None:
    del held
