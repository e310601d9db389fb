"""Does every import lead one way, also those that wait inside a function?"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Where a lower module opens a door to a higher one, on purpose: a method or a command that is a convenience.
DOORS = {
    ("runwright.engine.authoring.workflow", "runwright.engine.graph.check"),
    ("runwright.cli.catalogue", "runwright.cli.main"),
}


def modules() -> dict[str, Path]:
    """Every module of the product by its name."""
    files = [each for layer in ("eventstore", "projections", "engine", "cli") for each in (ROOT / layer).rglob("*.py")]
    return {".".join(("runwright", *_parts(each))): each for each in files}


def _parts(file: Path) -> tuple[str, ...]:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(node: ast.AST) -> Iterator[str]:
    """What a module imports when it runs; what only a type checker reads is left out."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test):
            continue
        if isinstance(each, ast.ImportFrom) and each.module:
            yield from (f"{each.module}.{name.name}" for name in each.names)
            yield each.module
        yield from imported(each)


def test_no_import_comes_back() -> None:
    """A circle makes two modules one, whichever of its imports is delayed."""
    known = modules()
    graph = {
        name: {each for each in imported(ast.parse(file.read_text("utf-8"))) if each in known} - {name}
        for name, file in known.items()
    }
    for lower, higher in DOORS:
        graph[lower].discard(higher)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
