"""Text that fills a terminal's lines: it breaks between words, and never within a line to type."""

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len
from rich.text import Text

#: What is never broken: a line to type in backticks with what adheres to it, one that runs to the end, or a word.
_UNBROKEN: Final = re.compile(r"[^\s`]*`[^`\n]*`[^\s`]*|(?<=: )runwright .*|\S+")


def wrapped(text: Text, width: int) -> Iterator[Text]:
    """The lines of a text.

    Args:
        text: The text, of one or several lines.
        width: How many columns there are. What is longer by itself gets a line of its own, which the terminal goes on
            below without an end in it, so that it is copied whole. What goes on below begins where the line began.
    """
    for line in text.split("\n", allow_blank=True):
        yield from _fill(line, width)


def _fill(line: Text, width: int) -> Iterator[Text]:
    indent = line.plain[: len(line.plain) - len(line.plain.lstrip(" "))]
    breaks: list[int] = []
    begin = 0
    for piece in _UNBROKEN.finditer(line.plain):
        fits = cell_len(line.plain[begin : piece.end()]) + (len(indent) if begin else 0) <= width
        if not fits and line.plain[begin : piece.start()].strip():
            begin = piece.start()
            breaks.append(begin)
    for number, each in enumerate(line.divide(breaks)):
        each.rstrip()
        yield Text(indent, style=each.style).append_text(each) if number else each
