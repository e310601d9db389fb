"""The identity of a workflow object that a program hands over, with its modules as they are."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from runwright.engine.authoring.workflow import Workflow
from runwright.engine.graph.compile import compile_workflow
from runwright.engine.sources.identity import SourceSet, source_set
from runwright.engine.sources.loaded import Loaded
from runwright.engine.sources.locate import find_project
from runwright.engine.sources.recording import is_project_file


def adopt(workflow: Workflow[Any], project: Path | None = None) -> Loaded:
    """Take a workflow object as it is.

    Args:
        workflow: The object.
        project: The project's folder; by default the marked one above the object's file, or the file's own.

    Raises:
        WorkflowInvalid: When its definition does not hold.
    """
    program = compile_workflow(workflow)
    module = sys.modules.get(workflow.module)
    file = _file(module)
    folder = project or (Path.cwd() if file is None else find_project(file.parent) or file.parent)
    sources = SourceSet({}) if module is None else source_set(folder, sorted(_closure(module, folder)))
    reference = _reference(workflow, module, file, folder)
    return Loaded(program=program, reference=reference, project=folder, sources=sources)


def _reference(workflow: Workflow[Any], module: ModuleType | None, file: Path | None, project: Path) -> str:
    """The module's file and variable; a script is never run again, so what it made is found only by its name."""
    if module is not None and file is not None and module.__name__ != "__main__" and file.is_relative_to(project):
        for variable, value in vars(module).items():
            if value is workflow:
                return f"{file.relative_to(project).as_posix()}:{variable}"
    return f"object:{workflow.name}"


def _closure(start: ModuleType, project: Path) -> set[Path]:
    """The project's files that a module imports at its top level, and theirs in turn."""
    found: set[Path] = set()
    waiting = [start]
    while waiting:
        module = waiting.pop()
        file = _file(module)
        if file is None or file in found or not is_project_file(str(file), project.resolve()):
            continue
        found.add(file)
        waiting.extend(_imports(module, file))
    return found


def _imports(module: ModuleType, file: Path) -> Iterator[ModuleType]:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return  # no text of its own to read: an extension, or a file that has changed under the program
    package = module.__package__ or ""
    for statement in _top_level(tree):
        for name in _names(statement, package):
            imported = sys.modules.get(name)
            if imported is not None:
                yield imported


def _top_level(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _top_level(child)


def _names(statement: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
    """Every module that a statement may have imported, packages on the way included."""
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
    else:
        parents = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
        base = ".".join([*filter(None, parents), *filter(None, [statement.module])])
        names = [base, *(f"{base}.{alias.name}" for alias in statement.names)]
    for name in names:
        parts = name.split(".")
        yield from (".".join(parts[: end + 1]) for end in range(len(parts)))


def _file(module: ModuleType | None) -> Path | None:
    origin = getattr(module, "__file__", None)
    return Path(origin).resolve() if isinstance(origin, str) else None
