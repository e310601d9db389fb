"""Lists for machines: ``{"items":[…],"position":n,"next":cursor|null}``, or one item a line."""

from collections.abc import Sequence

from runwright.cli.output import Output


def print_list(out: Output, items: Sequence[object], *, position: int | None, following: str | None = None) -> None:
    """Print a list as ``--json`` or ``--jsonl`` asked for it.

    Args:
        out: Where to print.
        items: The documents of this page.
        position: The head of the log that the list was read at.
        following: The cursor of the next page, if there is one.
    """
    if out.as_lines:
        out.lines(items)
    else:
        out.document({"items": list(items), "position": position, "next": following})
