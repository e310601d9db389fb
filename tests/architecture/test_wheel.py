"""Does what we ship hold what we wrote?"""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("eventstore", "projections", "engine", "cli")


def test_wheel_holds_every_module_and_nothing_else(tmp_path: Path) -> None:
    """The wheel's files are those of the four folders under `runwright`, plus the public names and `py.typed`."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (wheel,) = tmp_path.glob("*.whl")
    shipped = {
        name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("runwright/") and not name.endswith("/")
    }
    written = {
        f"runwright/{path.relative_to(ROOT)}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped == written | {"runwright/__init__.py", "runwright/testing.py", "runwright/py.typed"}


def test_nothing_lands_beside_the_package(tmp_path: Path) -> None:
    """Nothing called `engine` or `cli` reaches a user's site-packages."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (wheel,) = tmp_path.glob("*.whl")
    top = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert top == {"runwright", f"{wheel.name.split('-py3')[0]}.dist-info"}
