"""Does the code keep the project's own style, where a linter has no rule for it?"""

import ast
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("eventstore", "projections", "engine", "cli")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "base", "misc", "manager", "managers"}


def lines(path: Path) -> int:
    """Count a file's lines."""
    return path.read_text(encoding="utf-8").count("\n")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_is_tidy(path: Path) -> None:
    """A module opens with a sentence, has one job's name, at most 400 lines, and functions of at most 70."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstring = ast.get_docstring(tree)
    assert docstring, "a module opens with one sentence that says what it is for"
    assert docstring.splitlines()[0].endswith((".", "?", ":")), "the first line is a sentence"
    assert path.stem not in FORBIDDEN, "a file is named after its job"
    assert lines(path) <= 400, "a file this long has more than one job"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 70, f"{node.name} cannot be read at a glance: {length} lines"


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_test_file_asks_one_thing(path: Path) -> None:
    """Tests and what supports them have at most 400 lines a file, as modules have."""
    assert lines(path) <= 400, "a file this long asks more than one question: split it along them"


@pytest.mark.parametrize("package", PACKAGES)
def test_files_are_small(package: str) -> None:
    """Half of a package's files have at most 150 lines."""
    sizes = [lines(path) for path in MODULES if path.is_relative_to(ROOT / package)]
    assert median(sizes) <= 150


def test_every_test_says_what_it_shows() -> None:
    """Each test has a docstring: the sentence it proves."""
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


def test_only_the_transitions_append() -> None:
    """No module of the engine but the transitions appends events."""
    appending = {
        str(path.relative_to(ROOT))
        for path in MODULES
        if path.is_relative_to(ROOT / "engine") and "tx.append(" in path.read_text(encoding="utf-8")
    }
    assert {name for name in appending if not name.startswith("engine/transitions/")} == set()
