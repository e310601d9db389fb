"""A workflow object that a program hands over has a reference and a source set, too."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright import Workflow
from runwright.engine.errors import WorkflowInvalid
from runwright.engine.sources.load import load
from runwright.engine.sources.objects import adopt

FLOW = """
import helper
from package import inner

def _never():
    import unused

from runwright import Workflow
flow = Workflow("flow")
@flow.compute
def only(ctx) -> int:
    return 1
flow.entry(only)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project that this process imports."""
    (tmp_path / "package").mkdir()
    for name, text in {
        "embedded_flow.py": FLOW,
        "helper.py": "",
        "unused.py": "",
        "package/__init__.py": "",
        "package/inner.py": "from package import deeper",
        "package/deeper.py": "",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_an_object_is_referenced_by_its_modules_file_and_variable(project: Path) -> None:
    """So that it is found again, also without the program."""
    module = importlib.import_module("embedded_flow")
    adopted = adopt(module.flow)
    assert (adopted.reference, adopted.project) == ("embedded_flow.py:flow", project)
    loaded = load(adopted.reference, project)
    assert loaded.program.definition == adopted.program.definition
    assert loaded.sources == adopted.sources


def test_its_sources_are_what_it_imports_at_its_top_level(project: Path) -> None:
    """And what that imports in turn; an import that never ran is not among them."""
    module = importlib.import_module("embedded_flow")
    importlib.import_module("unused")
    assert list(adopt(module.flow).sources.files) == [
        *("embedded_flow.py", "helper.py", "package/__init__.py", "package/deeper.py", "package/inner.py"),
    ]


def test_an_object_without_a_variable_is_referenced_by_its_name() -> None:
    """Whoever resumes its run has to hand it over."""
    flow = Workflow("made-here")
    flow.entry(flow.compute(name="only")(lambda ctx: 1))
    assert adopt(flow).reference == "object:made-here"


def test_what_a_script_made_is_never_found_by_running_the_script_again(project: Path) -> None:
    """Its file is part of the identity, its reference only a name."""
    code = (
        "\nfrom runwright.engine.sources.objects import adopt\na = adopt(flow)\nprint(a.reference, *a.sources.files)\n"
    )
    (project / "script.py").write_text(FLOW + code)
    done = subprocess.run([sys.executable, "script.py"], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout.split()[:2] == ["object:flow", "helper.py"]
    assert "script.py" in done.stdout


def test_an_object_with_faults_is_refused() -> None:
    """As a file is."""
    with pytest.raises(WorkflowInvalid):
        adopt(Workflow("empty"))
