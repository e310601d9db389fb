"""Questions about workflows: the names are looked up here, their code is loaded elsewhere."""

from pathlib import Path

from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.embedded.code import Checked, Checking, Wanted
from runwright.engine.graph.definition import Definition
from runwright.engine.graph.draw import draw_mermaid, draw_text
from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.fitting import fitted
from runwright.engine.host.serving.surface import Surface
from runwright.engine.protocol.payloads import WorkflowCheck, WorkflowList
from runwright.engine.sources.locate import list_workflows, typed_reference
from runwright.eventstore.values import Json, JsonObject


def listed(surface: Surface, asked: Asked) -> JsonObject:
    """What can be started by name."""
    payload: WorkflowList = asked.payload
    items: list[Json] = [
        {"name": each.name, "origin": each.origin, "file": None if each.file is None else str(each.file)}
        for each in list_workflows(Path(payload.project), surface.user)
    ]
    return {"items": items}


async def checked(surface: Surface, asked: Asked) -> JsonObject:
    """Everything that is wrong with a workflow."""
    payload: WorkflowCheck = asked.payload
    cwd = Path(payload.cwd)
    project = None if payload.project is None else Path(payload.project)
    reference, found = typed_reference(payload.workflow, cwd, project)
    checked = await surface.code.check(Checking(wanted=Wanted(reference=reference, project=found, cwd=cwd)))
    return _document(checked, payload)


def _document(checked: Checked, payload: WorkflowCheck) -> JsonObject:
    problems = [_problem(each) for each in checked.problems]
    definition = None if checked.program is None else Definition.from_snapshot(checked.program.snapshot)
    graph = schema = None
    if definition is not None and payload.graph is not None:
        graph = draw_text(definition) if payload.graph == "text" else draw_mermaid(definition)
    if definition is not None and payload.input_schema:
        schema = definition.input_schema
    return {
        "workflow": checked.workflow or payload.workflow,
        "ok": not any(each.severity == "error" for each in checked.problems),
        "problems": fitted(problems) if problems else [],
        "graph": graph,
        "input_schema": schema,
    }


def _problem(problem: DefinitionError) -> JsonObject:
    return {
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.message,
        "fix": problem.fix,
        "file": problem.file,
        "line": problem.line,
    }
