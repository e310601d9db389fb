"""Lines to type that reach what the command itself was about: with the flags that said where that is."""

import re
from typing import Final

from rich.text import Text

#: The program's name in a line to type: one of its own, behind a colon, or in backticks.
_PROGRAM: Final = re.compile(r"(?:^ {4}|: |`)runwright(?= [a-z])", re.MULTILINE)


def reaching(text: Text, where: str) -> Text:
    """Put flags behind the program's name, wherever it begins a line to type.

    Args:
        text: What is said.
        where: The flags, as they are typed; may be empty.
    """
    ends = [each.end() for each in _PROGRAM.finditer(text.plain)] if where else []
    if not ends:
        return text
    first, *others = text.divide(ends)
    found = Text("", style=text.style, no_wrap=text.no_wrap, overflow=text.overflow).append_text(first)
    for each in others:
        found.append(f" {where}").append_text(each)
    return found
