"""How checks say what is wrong: the words that they share."""

from typing import Literal

from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.authoring.origin import Origin
from runwright.engine.graph.codes import CODES
from runwright.engine.safe import MAX_MESSAGE, cut


def problem(
    origin: Origin, code: str, message: str, fix: str, severity: Literal["error", "warning"] = "error"
) -> DefinitionError:
    """One thing that is wrong at one line of the user's."""
    assert code in CODES, code
    message, fix = cut(message, MAX_MESSAGE), cut(fix, MAX_MESSAGE)
    return DefinitionError(code=code, message=message, fix=fix, file=origin.file, line=origin.line, severity=severity)


def listed(names: list[str]) -> str:
    """Names as a text, or the word for none."""
    return ", ".join(repr(name) for name in names) or "none"
