"""``runwright check``: everything that is wrong with a workflow at once, or its graph."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.failures import ENDED_BADLY, OK
from runwright.cli.invocation import Invocation, user_folder
from runwright.cli.texts import FILE_NAME

if TYPE_CHECKING:
    from runwright.engine.authoring.errors import DefinitionError
    from runwright.engine.graph.program import Program


@intent("check", example="runwright check flows/review.py\nrunwright check review --graph mermaid")
@click.argument("workflow")
@click.option("--graph", type=click.Choice(["text", "mermaid"]), help="Print the graph.")
@click.option("--input-schema", "schema", is_flag=True, help="Print the JSON Schema of the input.")
@click.option("-i", "--input", "base", type=FILE_NAME, metavar="JSON/@FILE/-", help="Check this input, too.")
def command(call: Invocation, workflow: str, graph: str | None, schema: bool, base: str | None) -> int:
    """Everything that is wrong with a workflow, at once.

    With file and line; exits 1 where there is a fault. Or its graph, or the schema of its input.
    """
    from runwright.cli.launching import naming
    from runwright.engine.embedded.checking import find_faults
    from runwright.engine.sources.locate import typed_reference

    call.printed.settle()  # from here on user code is at work
    with naming(call, workflow):
        found = find_faults(*typed_reference(workflow, Path.cwd(), call.named_project), user_folder())
    name, problems = found.workflow or workflow, found.problems
    program = None if found.driven is None else found.driven.program
    if program is not None and base is not None:
        _check_input(program, base)
    facts = {} if program is None else _extras(program, graph, schema)
    if call.out.for_machines:
        call.out.document(_document(name, problems, facts, graph, schema))
    else:
        _show(call, name, problems, program, facts, schema=schema)
    return OK if program is not None else ENDED_BADLY


def _check_input(program: "Program", base: str) -> None:
    from runwright.cli.inputs import read_base
    from runwright.engine.embedded.preflight import check_input

    check_input(program, read_base(base), typed=False)


def _extras(program: "Program", graph: str | None, schema: bool) -> dict[str, Any]:
    from runwright.engine.graph.draw import draw_mermaid, draw_text

    facts: dict[str, Any] = {}
    if graph is not None:
        facts["graph"] = draw_text(program.definition) if graph == "text" else draw_mermaid(program.definition)
    if schema:
        facts["input_schema"] = program.definition.input_schema
    return facts


def _document(
    name: str, problems: "Sequence[DefinitionError]", facts: dict[str, Any], graph: str | None, schema: bool
) -> dict[str, Any]:
    asked = {"graph": None} if graph else {}
    asked |= {"input_schema": None} if schema else {}
    return {
        "workflow": name,
        "ok": not any(each.severity == "error" for each in problems),
        "problems": [
            {
                "code": each.code,
                "severity": each.severity,
                "message": each.message,
                "fix": each.fix,
                "file": each.file,
                "line": each.line,
            }
            for each in problems
        ],
        **asked,
        **facts,
    }


def _show(
    call: Invocation,
    name: str,
    problems: "Sequence[DefinitionError]",
    program: "Program | None",
    facts: dict[str, Any],
    *,
    schema: bool,
) -> None:
    from runwright.cli.rendering.problems import problem_lines, summary

    if facts:
        # What was asked for is the answer; the talk goes to stderr.
        call.out.say(*problem_lines(problems))
        if "graph" in facts:
            call.out.data(facts["graph"])
        if schema:
            call.out.document(facts["input_schema"])
        return
    call.out.show(*problem_lines(problems), summary(name, problems, program))
