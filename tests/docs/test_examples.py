"""Do the examples in the documentation run, and are they clean under mypy strict?"""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Every Python block of the documentation: where it stands, and its text."""
    return [
        (f"{page.relative_to(ROOT)}#{number}", text)
        for page in PAGES
        for number, text in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1)
    ]


def is_whole(text: str) -> bool:
    """Whether a block is a module of its own: it opens with its file name or its docstring."""
    return text.startswith(("# ", '"""'))


@pytest.mark.parametrize(
    ("where", "text"), [block for block in blocks() if is_whole(block[1])], ids=lambda part: part[:60]
)
def test_example_runs(where: str, text: str, tmp_path: Path) -> None:
    """A whole example runs as a program; a workflow in it is found to be sound."""
    path = tmp_path / "example.py"
    path.write_text(text, encoding="utf-8")
    names = runpy.run_path(str(path), run_name="__main__")
    from runwright import Workflow

    workflows = [value for value in names.values() if isinstance(value, Workflow)]
    assert workflows, f"{where} defines a workflow"
    assert [error.message for workflow in workflows for error in workflow.check()] == []


def test_examples_are_typed(tmp_path: Path) -> None:
    """All whole examples, and those in `examples/`, are clean under mypy strict."""
    for number, (_, text) in enumerate(block for block in blocks() if is_whole(block[1])):
        (tmp_path / f"example_{number}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Each relative link names a file that exists."""
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [target for target in targets if not target.startswith("http")]
    assert [target for target in local if not (page.parent / target).exists()] == []
