"""Workflow files are loaded fresh, with their identity, and what goes wrong is told safely (C95)."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from runwright.engine.errors import WorkflowInvalid, WorkflowNotFound
from runwright.engine.sources import recording
from runwright.engine.sources.identity import SourceSet
from runwright.engine.sources.load import load
from runwright.engine.sources.locate import locate

FLOW = """
from runwright import Workflow
{imports}
{name} = Workflow("{name}")

@{name}.compute
def only(ctx) -> int:
    return {value}

{name}.entry(only)
"""


@pytest.fixture(autouse=True)
def _modules() -> Iterator[None]:
    """Each test leaves the process's modules and path as they were."""
    modules, path = dict(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]
    sys.path[:] = path


def write(file: Path, text: str) -> Path:
    """Write a file and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dedent(text))
    return file


def flow(name: str = "flow", value: str = "1", imports: str = "") -> str:
    """A sound workflow file."""
    return FLOW.format(name=name, value=value, imports=imports)


def test_a_file_is_loaded_with_its_identity(tmp_path: Path) -> None:
    """Program, reference, project and every file that loading read."""
    write(tmp_path / "flows" / "flow.py", flow(imports="import helper\nfrom package import inner", value="helper.N"))
    write(tmp_path / "flows" / "helper.py", "import json\nN = 3\n")
    write(tmp_path / "package" / "__init__.py", "")
    write(tmp_path / "package" / "inner.py", "")
    write(tmp_path / "package" / "unused.py", "")
    loaded = load("flows/flow.py", tmp_path)
    assert loaded.reference == "flows/flow.py"
    assert loaded.program.definition.workflow == "flow"
    assert list(loaded.sources.files) == [
        *("flows/flow.py", "flows/helper.py", "package/__init__.py", "package/inner.py"),
    ]
    assert loaded.sources.changed(tmp_path) == ()
    assert loaded.sources.digest == load("flows/flow.py", tmp_path).sources.digest


def test_loading_is_fresh(tmp_path: Path) -> None:
    """An edit is seen, also of an imported file, also of equal size within the same moment."""
    write(tmp_path / "flow.py", flow(imports="import helper", value="helper.N"))
    values: list[object] = []
    for number in (1, 2, 3):
        write(tmp_path / "helper.py", f"N = {number}\n")
        function = load("flow.py", tmp_path).program.nodes["only"].declaration.function
        assert function is not None
        values.append(function(None))
    assert values == [1, 2, 3]
    assert not list(tmp_path.rglob("*.pyc"))


@pytest.mark.parametrize("package", [False, True], ids=["a folder", "a package"])
def test_loading_a_module_out_of_a_package_is_fresh(tmp_path: Path, package: bool) -> None:
    """An edit is seen and belongs to the identity, also where the package is a folder that stays as it is."""
    write(tmp_path / "flow.py", flow(imports="from parts import helper", value="helper.N"))
    if package:
        write(tmp_path / "parts" / "__init__.py", "")
    values: list[object] = []
    for number in (1, 2, 3):
        write(tmp_path / "parts" / "helper.py", f"N = {number}\n")
        loaded = load("flow.py", tmp_path)
        assert "parts/helper.py" in loaded.sources.files
        function = loaded.program.nodes["only"].declaration.function
        assert function is not None
        values.append(function(None))
    assert values == [1, 2, 3]


def test_projects_with_files_of_the_same_names_are_told_apart(tmp_path: Path) -> None:
    """Each is loaded from its own files, in any order; what the other one loaded stays as it was where it can."""
    for name in ("a", "b"):
        imports = "import helper\nfrom parts import inner"
        write(tmp_path / name / "flow.py", flow(imports=imports, value="helper.NAME + inner.NAME"))
        write(tmp_path / name / "helper.py", f"NAME = {name!r}\n")
        write(tmp_path / name / "parts" / "inner.py", f"NAME = {name!r}\n")
    write(tmp_path / "a" / "helper.py", "import alone\nNAME = 'a'\n")
    write(tmp_path / "a" / "alone.py", "")
    for name in ("a", "b", "a", "b"):
        loaded = load("flow.py", tmp_path / name)
        assert {"flow.py", "helper.py", "parts/inner.py"} <= set(loaded.sources.files)
        function = loaded.program.nodes["only"].declaration.function
        assert function is not None
        assert function(None) == name * 2
        assert sys.modules[function.__module__].__dict__["only"].declaration.function is function
    assert sys.modules["alone"].__file__ == str(tmp_path / "a" / "alone.py")


def test_an_import_inside_a_function_is_fresh_too(tmp_path: Path) -> None:
    """What an earlier load of this process made is not what a later one runs."""
    write(tmp_path / "flow.py", flow(imports="import helper", value="__import__('helper').N"))
    values: list[object] = []
    for number in (1, 2):
        write(tmp_path / "helper.py", f"N = {number}\n")
        function = load("flow.py", tmp_path).program.nodes["only"].declaration.function
        assert function is not None
        values.append(function(None))
    assert values == [1, 2]


def test_what_the_process_had_imported_stays_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that embeds the engine keeps its modules, and its path."""
    write(tmp_path / "flow.py", flow(imports="import kept"))
    write(tmp_path / "kept.py", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    import kept  # type: ignore[import-not-found]  # written above

    path = list(sys.path)
    load("flow.py", tmp_path)
    assert sys.modules["kept"] is kept
    assert sys.path == path


@pytest.mark.parametrize("before", [True, False], ids=["imported before", "imported after"])
def test_what_was_seen_once_is_not_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    """A forked process knows where its modules lie; one of the project is loaded afresh all the same."""
    monkeypatch.setattr(recording, "_seen", ("", ()))
    write(tmp_path / "kept.py", "number = 1\n")
    write(tmp_path / "flow.py", FLOW.format(imports="from kept import number", name="flow", value="number"))
    sys.path.insert(0, str(tmp_path))
    if not before:
        recording.look_around()
    kept = importlib.import_module("kept")
    if before:
        recording.look_around()
    write(tmp_path / "kept.py", "number = 2\n")
    loaded = load("flow.py", tmp_path)
    assert set(loaded.sources.files) == {"flow.py", "kept.py"}
    function = loaded.program.nodes["only"].declaration.function
    assert function is not None
    assert function(None) == 2
    assert sys.modules["kept"] is kept


def test_changed_files_are_named(tmp_path: Path) -> None:
    """Any byte of any file counts, and so does a file that is gone."""
    write(tmp_path / "flow.py", flow(imports="import helper, other"))
    helper, other = write(tmp_path / "helper.py", ""), write(tmp_path / "other.py", "")
    saved = load("flow.py", tmp_path).sources
    helper.write_text(" ")
    other.unlink()
    assert saved.changed(tmp_path) == ("helper.py", "other.py")
    write(tmp_path / "flow.py", flow(imports="import helper"))
    assert load("flow.py", tmp_path).sources.differs_from(saved) == ("flow.py", "helper.py", "other.py")


def test_a_source_set_is_a_mapping_with_a_digest() -> None:
    """In the order of the names, however it was made."""
    one, other = SourceSet({"b": "2", "a": "1"}), SourceSet({"a": "1", "b": "2"})
    assert one == other
    assert one.digest == other.digest
    assert one.paths() == {"a": "1", "b": "2"}
    assert one.differs_from(SourceSet({"a": "1"})) == ("b",)


def test_installed_packages_in_the_project_are_not_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an environment inside the project holds has its own versions."""
    site = tmp_path / ".venv" / "lib" / "site-packages"
    write(site / "installed.py", "")
    write(tmp_path / "flow.py", flow(imports="import installed"))
    monkeypatch.syspath_prepend(str(site))
    assert list(load("flow.py", tmp_path).sources.files) == ["flow.py"]


def test_several_workflows_in_a_file_are_told_apart(tmp_path: Path) -> None:
    """By the variable; without it the refusal lists them."""
    write(
        tmp_path / "flows.py", flow("one") + flow("two").replace("def only", "def other").replace("(only)", "(other)")
    )
    assert load("flows.py:two", tmp_path).program.definition.workflow == "two"
    with pytest.raises(WorkflowInvalid) as refused:
        load("flows.py", tmp_path)
    assert refused.value.problems == ("The file defines several workflows; name one: flows.py:one, flows.py:two.",)


def test_an_imported_workflow_is_not_the_files_own(tmp_path: Path) -> None:
    """A file that mounts another one still holds one workflow."""
    write(tmp_path / "child.py", flow("child") + 'ready = child.exit("ready", only)\n')
    write(
        tmp_path / "parent.py",
        """
        from runwright import Workflow
        from child import child, ready

        parent = Workflow("parent")
        docs = parent.include("docs", child, input=lambda ctx: {})
        parent.entry(docs)
        """,
    )
    loaded = load("parent.py", tmp_path)
    assert list(loaded.program.definition.nodes) == ["docs/only"]
    assert list(loaded.sources.files) == ["child.py", "parent.py"]


def test_a_child_that_is_named_belongs_to_the_sources(tmp_path: Path) -> None:
    """It is resolved, compiled and hashed with its parent."""
    write(tmp_path / ".runwright" / "workflows" / "docs.py", flow("docs") + 'ready = docs.exit("ready", only)\n')
    write(
        tmp_path / "parent.py",
        """
        from runwright import Workflow

        parent = Workflow("parent")
        parent.entry(parent.include("docs", "docs", input=lambda ctx: {}))
        """,
    )
    loaded = load("parent.py", tmp_path)
    assert list(loaded.program.definition.nodes) == ["docs/only"]
    assert list(loaded.sources.files) == [".runwright/workflows/docs.py", "parent.py"]


def test_an_import_path_is_loaded_from_the_project(tmp_path: Path) -> None:
    """As an import from the project's folder."""
    write(tmp_path / "package" / "__init__.py", "")
    write(tmp_path / "package" / "flows.py", flow())
    loaded = load("package.flows:flow", tmp_path)
    assert list(loaded.sources.files) == ["package/__init__.py", "package/flows.py"]
    with pytest.raises(WorkflowNotFound, match="there is no such module"):
        load("package.nothing:flow", tmp_path)
    with pytest.raises(WorkflowNotFound, match="'only' is no workflow"):
        load("package.flows:only", tmp_path)


def test_a_users_workflow_knows_its_file_by_its_whole_path(tmp_path: Path) -> None:
    """It stands outside the project, and is part of the identity all the same."""
    project, user = tmp_path / "project", tmp_path / "user"
    project.mkdir()
    file = write(user / "workflows" / "mine.py", flow("mine", imports="import near"))
    near = write(user / "workflows" / "near.py", "")
    loaded = load("mine", project, user)
    assert list(loaded.sources.files) == [str(file), str(near)]
    assert loaded.sources.changed(project) == ()


def test_a_class_of_a_loaded_file_can_be_found_again(tmp_path: Path) -> None:
    """Quoted annotations are read in the module, which has its file's name."""
    write(
        tmp_path / "quoted.py",
        """
        from __future__ import annotations
        from attrs import frozen
        from runwright import Context, Workflow

        @frozen
        class Item:
            name: str
            parts: list[Item] = []

        flow = Workflow("flow", input=Item)

        @flow.compute
        def only(ctx: Context[Item]) -> list[Item]:
            return [ctx.input]

        flow.entry(only)
        """,
    )
    program = load("quoted.py", tmp_path).program
    value = program.input.load({"name": "a", "parts": [{"name": "b"}]})
    assert program.nodes["only"].shape.dump([value]) == [
        {"name": "a", "parts": [{"name": "b", "parts": []}]},
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def broken(:\n", "flow.py:1: it is no Python of this version (SyntaxError)."),
        ("x = 1\nraise ValueError('secret')\n", "flow.py:2: loading it raised ValueError."),
        ("\nimport missing_thing\n", "flow.py:2: the module 'missing_thing' is not installed here."),
        ("import sys\nsys.exit('secret')\n", "flow.py:2: loading it raised SystemExit."),
        ("x = 1\n", "The file defines no Workflow."),
        ("import helper\n", "helper.py:1: loading it raised ZeroDivisionError."),
        ("\0", "flow.py: it is no Python of this version (SyntaxError)."),
    ],
    ids=["syntax", "raise", "missing", "exit", "empty", "helper", "nul"],
)
def test_what_goes_wrong_is_told_by_place_and_type(text: str, problem: str, tmp_path: Path) -> None:
    """The text of a foreign exception is never copied."""
    write(tmp_path / "helper.py", "1 / 0  # secret")
    (tmp_path / "flow.py").write_text(text)
    with pytest.raises(WorkflowInvalid) as refused:
        load("flow.py", tmp_path)
    assert refused.value.problems[0].replace(":1: it is", ": it is") == problem.replace(":1: it is", ": it is")
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_a_broken_load_leaves_nothing_behind(tmp_path: Path) -> None:
    """A file that is mended can be loaded."""
    write(tmp_path / "flow.py", "raise ValueError\n")
    with pytest.raises(WorkflowInvalid):
        load("flow.py", tmp_path)
    write(tmp_path / "flow.py", flow())
    assert load("flow.py", tmp_path).program.definition.workflow == "flow"


def test_all_faults_of_a_definition_are_told(tmp_path: Path) -> None:
    """With file, line and code."""
    write(tmp_path / "flow.py", 'from runwright import Workflow\nflow = Workflow("no name", max_steps=0)\n')
    with pytest.raises(WorkflowInvalid) as refused:
        load("flow.py", tmp_path)
    assert [problem.split(": ")[:2] for problem in refused.value.problems] == [
        [f"{tmp_path}/flow.py:2", code] for code in ("name_invalid", "option_invalid", "entry_missing")
    ]


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    """Which is another code than a changed one."""
    with pytest.raises(WorkflowNotFound):
        locate("flow.py", tmp_path)
