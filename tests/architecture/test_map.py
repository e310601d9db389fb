"""Does the page that says which test plays which case name tests that there are?"""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS / "acceptance" / "README.md"


def named(line: str) -> list[tuple[str, str]]:
    """The folder and the name of each test file that a row of the table names; `…/` stands for the folder before."""
    found: list[tuple[str, str]] = []
    for text in re.findall(r"`([^` ]*test_[^` ]+)`", line):
        folder, _, file = text.rpartition("/")
        found.append((found[-1][0] if folder == "…" else folder or "acceptance", file))
    return found


def test_the_page_names_tests_that_there_are() -> None:
    """A moved or renamed file is moved or renamed there, too; a name that ends in `…` is the beginning of one."""
    files = [each for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|") for each in named(line)]
    assert len(files) > 50
    pattern = {(folder, file): file.replace("…", "*") + ".py" for folder, file in files}
    assert {each for each in files if not list((TESTS / each[0]).glob(pattern[each]))} == set()


def test_the_page_names_each_test_of_its_folder() -> None:
    """A case that is played through is found by its number."""
    files = {file for line in PAGE.read_text("utf-8").splitlines() for folder, file in named(line)}
    assert {path.stem for path in PAGE.parent.glob("test_*.py")} - files == set()
