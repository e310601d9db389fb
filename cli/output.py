"""Where words go: data to stdout, talk to stderr, and with ``--json`` one document and nothing else."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from runwright.cli.failures import Failure
from runwright.cli.rendering.text import clean, escape_json

if TYPE_CHECKING:  # rich takes 40 ms to import; a document needs none of it
    from rich.console import Console, RenderableType

#: The width of what goes to a pipe or a file: wide enough that no table cuts what somebody may search for.
_PIPE_WIDTH = 120


def encode_document(document: object, *, indent: int | None = None) -> str:
    """Write a JSON document for stdout: readable text as it is, what steers terminals escaped."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
    return escape_json(text)


class Output:
    """The two streams of one command, and how its answer was asked for."""

    def __init__(
        self,
        *,
        as_json: bool = False,
        as_lines: bool = False,
        quiet: bool = False,
        verbose: int = 0,
        where: str = "",
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self.as_json = as_json
        self.as_lines = as_lines
        self.quiet = quiet
        self.verbose = verbose
        self._where = where
        self.stdout = stdout or sys.stdout
        self.stderr = stderr or sys.stderr
        self._consoles: dict[bool, Console] = {}

    def move(self, stdout: TextIO, stderr: TextIO) -> None:
        """Go on with other streams."""
        self.stdout, self.stderr = stdout, stderr
        self._consoles.clear()

    @property
    def for_machines(self) -> bool:
        """Whether a program reads the answer."""
        return self.as_json or self.as_lines

    @property
    def at_terminal(self) -> bool:
        """Whether a person watches the talk on stderr."""
        return self.stderr.isatty()

    def document(self, document: object) -> None:
        """Print the one JSON document, indented where a person reads it."""
        self.raw(encode_document(document, indent=2 if self.stdout.isatty() else None) + "\n")

    def lines(self, documents: Iterable[object]) -> None:
        """Print one JSON document a line, each as soon as it is there."""
        for each in documents:
            self.raw(encode_document(each) + "\n")
            self.stdout.flush()

    def raw(self, text: str) -> None:
        """Write text to stdout as it is."""
        self.stdout.write(text)

    def data(self, text: str) -> None:
        """Print text as data: unchanged into a pipe, and unable to steer a terminal."""
        ending = "" if text.endswith("\n") else "\n"
        self.raw((clean(text) if self.stdout.isatty() else text) + ending)

    def value(self, value: object) -> None:
        """Print a result: for people and pipes a text alone where it is one, else JSON."""
        if isinstance(value, str) and not self.for_machines:
            self.data(value)
        else:
            self.document(value)

    def show(self, *renderables: "RenderableType") -> None:
        """Show people the answer, on stdout."""
        _print(self.console(stderr=False), map(self._line_reaching, renderables))

    def say(self, *renderables: "RenderableType") -> None:
        """Say something beside the answer, on stderr; ``-q`` silences it."""
        if not self.quiet:
            _print(self.console(stderr=True), map(self._reaching, renderables))

    def fail(self, failure: Failure) -> None:
        """Report a failure: for machines as a document on stdout, else as a sentence and the next step on stderr."""
        if self.for_machines:
            self.document(failure.document()) if self.as_json else self.lines([failure.document()])
            return
        from rich.text import Text

        lines = [Text.assemble(("error: ", "bold red"), clean(failure.message))]
        if failure.hint:
            lines.append(Text.assemble(("hint:  ", "bold"), clean(failure.hint)))
        _print(self.console(stderr=True), map(self._reaching, lines))

    def _reaching(self, renderable: "RenderableType") -> "RenderableType":
        """What is said, with lines to type that reach what this command is about."""
        from rich.text import Text

        from runwright.cli.rendering.reaching import reaching

        text = Text(clean(renderable)) if isinstance(renderable, str) else renderable
        return reaching(text, self._where) if isinstance(text, Text) else text

    def _line_reaching(self, renderable: "RenderableType") -> "RenderableType":
        """The same where an answer has a line to type; all else in it is data."""
        return self._reaching(renderable) if getattr(renderable, "overflow", None) == "ignore" else renderable

    def console(self, *, stderr: bool) -> "Console":
        """The rich console of a stream; plain where the stream is no terminal."""
        if stderr not in self._consoles:
            from rich.console import Console

            stream = self.stderr if stderr else self.stdout
            options: dict[str, Any] = {}
            if not stream.isatty():
                options = {"width": _pipe_width(os.environ), "color_system": None}
            self._consoles[stderr] = Console(file=stream, highlight=False, markup=False, emoji=False, **options)
        return self._consoles[stderr]


def _print(console: "Console", renderables: "Iterable[RenderableType]") -> None:
    if console.is_terminal:
        _print_all(console, renderables)
        return
    with console.capture() as captured:
        _print_all(console, renderables)
    # Columns are filled up with blanks, which are of no use in a file.
    console.file.write("".join(f"{each.rstrip(' ')}\n" for each in captured.get().split("\n")[:-1]))


def _print_all(console: "Console", renderables: "Iterable[RenderableType]") -> None:
    from rich.text import Text

    from runwright.cli.rendering.wrapping import wrapped

    for renderable in renderables:
        each = Text(clean(renderable)) if isinstance(renderable, str) else renderable
        if not isinstance(each, Text):
            console.print(each)
        elif not console.is_terminal or each.overflow == "ignore":
            console.print(each, soft_wrap=True)  # whole: into a pipe, and what is there to be copied
        elif each.no_wrap:
            console.print(each, no_wrap=True, overflow=each.overflow)
        else:
            for line in wrapped(each, console.width):
                console.print(line, soft_wrap=True)


def _pipe_width(environment: Mapping[str, str]) -> int:
    columns = environment.get("COLUMNS", "")
    return int(columns) if columns.isascii() and columns.isdigit() and 0 < int(columns) < 10_000 else _PIPE_WIDTH
