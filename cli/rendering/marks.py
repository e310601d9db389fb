"""The ten words of a run's display status, and those of nodes and effects, each with a sign and a colour.

The word always stands beside its sign: colour carries no meaning alone. The colours are of middle brightness, so
that they can be read on a dark and on a light ground.
"""

from types import MappingProxyType
from typing import Final

from rich.text import Text

GOOD: Final = "green4"
BAD: Final = "red3"
BUSY: Final = "dodger_blue2"
HELD: Final = "dark_orange3"
DOUBT: Final = "magenta3"
QUIET: Final = "grey50"

_MARKS: Final = MappingProxyType(
    {
        "queued": ("○", QUIET),
        "running": ("●", BUSY),
        "waiting": ("◔", HELD),
        "paused": ("‖", HELD),
        "parked": ("‖", HELD),
        "interrupted": ("‖", HELD),
        "completed": ("✓", GOOD),
        "continued": ("↪", QUIET),
        "failed": ("✗", BAD),
        "timed_out": ("✗", BAD),
        "cancelled": ("⊘", QUIET),
        "ambiguous": ("?", DOUBT),
        "reserved": ("○", QUIET),
        "applying": ("●", BUSY),
        "applied": ("✓", GOOD),
        "rejected": ("✗", BAD),
    }
)


def mark(word: str) -> Text:
    """A status word with its sign: ``✓ completed``."""
    sign, style = _MARKS.get(word, ("·", QUIET))
    return Text(f"{sign} {word.replace('_', ' ')}", style=style)


def sign(word: str) -> Text:
    """The sign of a status word alone, for where the word stands beside it."""
    text, style = _MARKS.get(word, ("·", QUIET))
    return Text(text, style=style)


def style_of(word: str) -> str:
    """The colour of a status word."""
    return _MARKS.get(word, ("", QUIET))[1]
