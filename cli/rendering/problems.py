"""What is wrong with a workflow, for people: where, what, and what to write instead."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from runwright.cli.rendering.marks import BAD, GOOD, HELD, QUIET
from runwright.cli.rendering.text import clean, plural

if TYPE_CHECKING:
    from runwright.engine.authoring.errors import DefinitionError
    from runwright.engine.graph.program import Program


def problem_lines(problems: "Sequence[DefinitionError]") -> list[Text]:
    """Each problem on two lines: where and what, and the fix."""
    lines: list[Text] = []
    for each in problems:
        style = BAD if each.severity == "error" else HELD
        lines.append(
            Text.assemble(
                (f"{each.severity} ", style),
                (clean(f"{each.file}:{each.line}" if each.line else each.file), "bold"),
                f"  {clean(each.message)}",
            )
        )
        lines.append(Text.assemble((f"  {each.code}  ", QUIET), clean(each.fix)))
    return lines


def summary(name: str, problems: "Sequence[DefinitionError]", program: "Program | None") -> Text:
    """How it stands, on one line."""
    errors = sum(each.severity == "error" for each in problems)
    if program is None:
        return Text.assemble(("✗ ", BAD), (clean(name), "bold"), f" has {plural(errors, 'fault')}.")
    warnings = len(problems) - errors
    words = f"{plural(len(program.definition.nodes), 'node')}" + (
        f", {plural(warnings, 'warning')}" if warnings else ""
    )
    return Text.assemble(("✓ ", GOOD), (clean(name), "bold"), f" holds ({words}).")
