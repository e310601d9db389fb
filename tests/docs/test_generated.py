"""Do the pages that follow from the code still follow from it?"""

import runpy
from pathlib import Path
from typing import get_args

import pytest

from runwright.eventstore.verdict import PROBLEMS, Problem

DOCS = Path(__file__).parents[2] / "docs"
PAGES = runpy.run_path(str(DOCS / "generate.py"))["PAGES"]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_page_follows_from_the_code(name: str) -> None:
    """A reference page is what `python docs/generate.py` writes."""
    assert (DOCS / "reference" / name).read_text(encoding="utf-8") == PAGES[name]()


def test_every_problem_of_a_verification_is_explained() -> None:
    """What the page lists is the closed list of the code."""
    assert tuple(PROBLEMS) == get_args(Problem)
