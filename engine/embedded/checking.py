"""Everything that is wrong with a workflow at once, also where it cannot even be loaded."""

import re
from pathlib import Path

from attrs import frozen

from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.embedded.catalog import Driven
from runwright.engine.errors import WorkflowInvalid
from runwright.engine.graph.check import check
from runwright.engine.graph.compile import compile_workflow
from runwright.engine.sources.load import SEVERAL, loading
from runwright.engine.sources.loaded import Loaded

_PLACED = re.compile(r"(?P<file>.*?):(?P<line>[0-9]+): (?P<message>.*)", re.DOTALL)


@frozen(kw_only=True, eq=False)
class Found:
    """What loading and checking a workflow came to.

    Attributes:
        workflow: Its name; ``None`` where it could not even be loaded.
        problems: Errors and warnings.
        driven: The program, where there is no error.
    """

    workflow: str | None
    problems: tuple[DefinitionError, ...]
    driven: Driven | None


def find_faults(reference: str, project: Path, user: Path | None = None) -> Found:
    """Load a workflow and check it, as its files stand now.

    Args:
        reference: How it is named.
        project: The project's folder.
        user: The user's configuration folder, which may hold workflows.

    Raises:
        WorkflowNotFound: There is none.
    """
    name, driven = None, None
    try:
        with loading(reference, project, user) as (workflow, resolve, read):
            name = str(workflow.name)
            problems = check(workflow, resolve)
            if not any(each.severity == "error" for each in problems):
                program = compile_workflow(workflow, resolve)
                sources = read.sources(project)
                driven = Driven.of(Loaded(program=program, reference=reference, project=project, sources=sources))
    except WorkflowInvalid as error:
        problems = [_problem(each, reference) for each in error.problems]
    return Found(workflow=name, problems=tuple(problems), driven=driven)


def _problem(text: str, reference: str) -> DefinitionError:
    """What stands in the way of loading a file at all, as one more thing that is wrong with it."""
    match = _PLACED.fullmatch(text)
    file, line, message = (match["file"], int(match["line"]), match["message"]) if match else (reference, 0, text)
    if text.startswith(SEVERAL):
        fix = "Write FILE:NAME for the one that is meant."
    else:
        fix = "Correct the file; `-v` shows the whole error."
    return DefinitionError(code="workflow_invalid", message=message, fix=fix, file=file, line=line)
