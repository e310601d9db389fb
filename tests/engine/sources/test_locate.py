"""References lead to files, names, import paths or entry points, and never out of their folders (C94)."""

import sys
from pathlib import Path

import pytest

from runwright.engine.errors import WorkflowNotFound
from runwright.engine.sources.locate import find_project, list_workflows, locate, typed_reference


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A marked project with a flow in a folder and one that has a name."""
    home = tmp_path / "project"
    (home / ".runwright" / "workflows").mkdir(parents=True)
    (home / "flows").mkdir()
    for file in ("flows/review.py", ".runwright/workflows/nightly_build.py", ".runwright/workflows/_hidden.py"):
        (home / file).write_text("")
    (tmp_path / "outside.py").write_text("")
    (tmp_path / "user" / "workflows").mkdir(parents=True)
    for name in ("mine.py", "nightly_build.py"):
        (tmp_path / "user" / "workflows" / name).write_text("")
    return home


def test_a_file_is_named_relative_to_its_project(project: Path) -> None:
    """With or without the variable."""
    location = locate("flows/review.py", project)
    assert (location.file, location.variable) == (project / "flows" / "review.py", None)
    assert locate("flows/review.py:review", project).variable == "review"


def test_a_name_is_looked_for_in_the_project_then_in_the_users_folder(project: Path) -> None:
    """A hyphen may be an underscore in the file's name; the project hides the user's."""
    user = project.parent / "user"
    location = locate("nightly-build", project, user)
    assert location.file == project / ".runwright" / "workflows" / "nightly_build.py"
    assert location.prefer == "nightly-build"
    assert locate("mine", project, user).file == user / "workflows" / "mine.py"
    with pytest.raises(WorkflowNotFound):
        locate("mine", project)


def test_an_import_path_is_a_module_and_a_variable(project: Path) -> None:
    """No file is asked for before it is imported."""
    location = locate("package.module:review", project)
    assert (location.file, location.module, location.variable) == (None, "package.module", "review")


def test_an_entry_point_has_a_name(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an installed package offers is found last."""
    info = tmp_path / "site" / "flows-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: flows\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[runwright.workflows]\npacked = flows.review:review\nmine = x:y\n")
    monkeypatch.syspath_prepend(str(info.parent))
    location = locate("packed", project)
    assert (location.module, location.variable) == ("flows.review", "review")
    listed = {each.name: each.origin for each in list_workflows(project, project.parent / "user")}
    assert listed == {"nightly_build": "project", "mine": "user", "packed": "package"}


HOSTILE = [
    *("../outside.py", "flows/../../outside.py", "/etc/passwd.py", "flows//review.py", "./flows/review.py"),
    *("flows\\review.py", "..\\outside.py", "flows/review.py\0", "%2e%2e/outside.py", "flows/review\n.py"),
    *("..", ".", "", "/abs", "a/../../b", "../x", "..\\x", "x\0y", "x" * 5000, "x" * 5000 + ".py", "a b"),
    *(
        "\uff0e\uff0e/outside.py",
        "\u2215etc\u2215passwd",
        "-x",
        ".hidden",
        "a:b:c",
        "module:",
        ":x",
        "os.path:..",
        "object:thing",
    ),
]


@pytest.mark.parametrize("reference", HOSTILE, ids=lambda each: repr(each[:20]))
def test_a_reference_that_would_leave_is_refused_alike(reference: str, project: Path) -> None:
    """Whether something stands there or not, the answer is the same, short, and safe to print."""
    with pytest.raises(WorkflowNotFound) as refused:
        locate(reference, project, project.parent / "user")
    assert refused.value.code == "workflow_not_found"
    assert len(refused.value.message.encode()) <= 1024
    assert refused.value.message.isprintable()


@pytest.mark.parametrize("reference", HOSTILE, ids=lambda each: repr(each[:20]))
def test_no_file_is_asked_for_before_the_reference_is_judged(
    reference: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Traversal is refused before any file call."""
    touched: list[str] = []

    def is_file(self: Path) -> bool:
        touched.append(str(self))
        return False

    monkeypatch.setattr(Path, "is_file", is_file)
    with pytest.raises(WorkflowNotFound):
        locate(reference, project)
    assert all(".." not in path and path.startswith(str(project)) for path in touched)


def test_a_link_out_of_the_folder_of_names_is_not_followed(project: Path) -> None:
    """A name is what stands in the folder, not what it points at."""
    (project / ".runwright" / "workflows" / "linked.py").symlink_to(project.parent / "outside.py")
    with pytest.raises(WorkflowNotFound):
        locate("linked", project)


def test_a_typed_file_is_relative_to_where_the_person_is(project: Path) -> None:
    """Its project is the marked folder above it, else its own folder; a named project has to hold it."""
    assert typed_reference("review.py:review", project / "flows") == ("flows/review.py:review", project)
    assert typed_reference("../flows/review.py", project / "flows") == ("flows/review.py", project)
    assert typed_reference(str(project / "flows" / "review.py"), Path("/")) == ("flows/review.py", project)
    assert typed_reference("outside.py", project.parent) == ("outside.py", project.parent)
    assert typed_reference("nightly-build", project / "flows") == ("nightly-build", project)
    with pytest.raises(WorkflowNotFound, match="outside the project"):
        typed_reference("../outside.py", project, project)


def test_the_project_is_the_nearest_marked_folder(project: Path) -> None:
    """Or there is none."""
    assert find_project(project / "flows") == project
    assert find_project(Path(sys.prefix)) is None
