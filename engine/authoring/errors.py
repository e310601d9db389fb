"""What can be wrong with a definition, and what asking a context can answer.

DefinitionError (data, collected; never raised)
OutputMissing (LookupError)
"""

from typing import Literal

from attrs import frozen


@frozen(kw_only=True)
class DefinitionError:
    """One thing that is wrong with a workflow, or that is worth a warning.

    Attributes:
        code: A stable code.
        message: What is wrong.
        fix: What to write instead.
        file: The user's file.
        line: The line in it, from 1.
        severity: A warning stops nothing.
    """

    code: str
    message: str
    fix: str
    file: str
    line: int
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        """The error as one line: where, which, what, and what to do."""
        return f"{self.file}:{self.line}: {self.code}: {self.message} {self.fix}"


class OutputMissing(LookupError):
    """An output was asked for that is not there.

    Attributes:
        source: The node, or the way out of a mount.
    """

    def __init__(self, source: str, why: str) -> None:
        self.source = source
        super().__init__(
            f"{source!r} has no output: {why}. Give a default, `ctx.output({source}, …)`, where that may happen."
        )
