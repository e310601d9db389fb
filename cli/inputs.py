"""The input of a run as people hand it in: ``-i``, then ``-s``, then TASK; the workflow's own types judge it later."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, TypeAlias

from runwright.cli.failures import Refused
from runwright.eventstore.values import MAX_VALUE, Json, decode

#: A field as it was typed: its key, the text, and whether that is JSON.
Field: TypeAlias = tuple[str, str, bool]


def read_base(base: str | None, stdin: BinaryIO | None = None) -> Json:
    """Read what ``-i`` was given: JSON text, ``@FILE``, or ``-`` for stdin; an empty object without it.

    Args:
        base: What stands behind the flag.
        stdin: Where ``-`` reads; the process's own by default.

    Raises:
        Refused: It cannot be read, or is no JSON. No message holds a value.
    """
    from runwright.eventstore.errors import ValueRefused

    if base is None:
        return {}
    try:
        return decode(_text(base, stdin))
    except ValueRefused as error:
        # A refusal of the strict decoder names path and fix, and never the value.
        raise _wrong(f"The JSON of -i is not usable: {error.path} {error.problem}.", f"{error.fix}.") from None


def read_fields(settings: Sequence[str]) -> tuple[Field, ...]:
    """Read what ``-s`` was given: ``key=value``, or ``key:=JSON``, in order.

    Raises:
        Refused: It has neither form.
    """
    fields = []
    for each in settings:
        left, equals, text = each.partition("=")
        key = left.removesuffix(":")
        if not equals or not key:
            raise _wrong("-s takes key=value, or key:=JSON.", "Example: -s path=. -s top:=20")
        fields.append((key, text, left.endswith(":")))
    return tuple(fields)


def _text(base: str, stdin: BinaryIO | None) -> str:
    if base == "-":
        raw = (stdin or sys.stdin.buffer).read(MAX_VALUE + 1)
    elif base.startswith("@"):
        try:
            with Path(base[1:]).open("rb") as file:
                raw = file.read(MAX_VALUE + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it has no valid name"
            raise _wrong(f"The file given with -i cannot be read: {reason}.", "Check its name and rights.") from None
    else:
        raw = os.fsencode(base)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong("The input given with -i is not UTF-8 text.", "Convert it to UTF-8.") from None


def _wrong(message: str, hint: str) -> Refused:
    return Refused.usage(message, hint, code="input_invalid")
