"""mypy and pyright, both strict, find the planted mistakes and nothing else."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"
ROOT = Path(__file__).parents[2]
FILES = sorted(CASES.glob("*.py"))
NAMES = [file.name for file in FILES]

pytestmark = pytest.mark.timeout(300)


def expected(file: Path) -> set[int]:
    """The marked lines of a file."""
    return {number for number, line in enumerate(file.read_text().splitlines(), 1) if "# expect-error" in line}


def run(*command: str) -> str:
    """The output of a checker, run as a user would, apart from the project's own settings."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=CASES, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def mypy_found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """What mypy reports, by file and line."""
    folder = tmp_path_factory.mktemp("mypy")
    config = folder / "mypy.ini"
    config.write_text("[mypy]\nstrict = true\n")
    output = run("mypy", "--config-file", str(config), "--cache-dir", str(folder), *(file.name for file in FILES))
    found: dict[str, dict[int, str]] = {file.name: {} for file in FILES}
    for match in re.finditer(r"^(\w+\.py):(\d+): error: (.*)$", output, re.MULTILINE):
        found[match[1]][int(match[2])] = match[3]
    return found


@pytest.fixture(scope="module")
def pyright_found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """What pyright reports, by file and line."""
    folder = tmp_path_factory.mktemp("pyright")
    for file in FILES:
        shutil.copy(file, folder)  # it reads only what stands under its configuration
    config = folder / "pyrightconfig.json"
    config.write_text(json.dumps({"typeCheckingMode": "strict", "extraPaths": [str(ROOT / "src")]}))
    document = json.loads(run("pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(config)))
    assert document["summary"]["filesAnalyzed"] == len(FILES)
    found: dict[str, dict[int, str]] = {file.name: {} for file in FILES}
    for each in document["generalDiagnostics"]:
        if each["severity"] == "error":
            found[Path(each["file"]).name][each["range"]["start"]["line"] + 1] = each["message"]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_mypy_finds_exactly_the_planted_mistakes(name: str, mypy_found: dict[str, dict[int, str]]) -> None:
    """Mypy strict reports the marked lines of each file and no other."""
    assert set(mypy_found[name]) == expected(CASES / name), mypy_found[name]


@pytest.mark.parametrize("name", NAMES)
def test_pyright_finds_exactly_the_planted_mistakes(name: str, pyright_found: dict[str, dict[int, str]]) -> None:
    """Pyright strict reports the marked lines of each file and no other."""
    assert set(pyright_found[name]) == expected(CASES / name), pyright_found[name]
