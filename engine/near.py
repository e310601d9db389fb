"""Names that were probably meant, where one was mistyped."""

import difflib
from collections.abc import Iterable
from typing import Final

#: A listing of names goes no further.
_MOST: Final = 12


def near(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, as a question; empty where none is near."""
    by_lower = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return f"Did you mean {by_lower[found[0]]}?" if found else ""


def meant(name: str, known: Iterable[str], what: str) -> str:
    """The name that was probably meant, and which there are.

    Args:
        name: What was typed.
        known: What there is.
        what: What it is, in the plural: ``nodes``.
    """
    names = list(known)
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    listed = f"The {what}: {', '.join(names[:_MOST])}{more}." if names else f"There are no {what}."
    return " ".join(filter(None, (near(name, names), listed)))
