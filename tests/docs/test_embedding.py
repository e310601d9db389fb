"""Does an engine's call return what the guide says?"""

import inspect
import re
from pathlib import Path

import pytest

from runwright import Engine

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "embedding.md").read_text(encoding="utf-8")
(TABLE,) = re.findall(r"^\| call \| returns \|\n\| --- \| --- \|\n((?:\|.*\n)+)", GUIDE, re.MULTILINE)
CALLS = {
    name: returns
    for calls, returns in re.findall(r"^\| (.*?) \| (.*) \|$", TABLE, re.M)
    for name in re.findall(r"\w+", calls)
}


@pytest.mark.parametrize("call", sorted(CALLS))
def test_a_call_returns_what_the_guide_says(call: str) -> None:
    """Every type that its signature names stands in the guide's words."""
    named = set(re.findall(r"str|Outcome|Answered|Applied|Adopted", re.sub(r"\[\w+\]", "", returned(call))))
    assert named
    assert named == set(re.findall(r"`(str|Outcome|Answered|Applied|Adopted)`", CALLS[call]))


def test_what_may_be_adopted_is_named() -> None:
    """No call that answers whether it was the first is left out."""
    public = {name for name, each in vars(Engine).items() if inspect.isfunction(each) and not name.startswith("_")}
    assert {name for name in public if re.search("Adopted|Answered", returned(name))} <= CALLS.keys()


def returned(call: str) -> str:
    """The return annotation of a call, as text."""
    return inspect.formatannotation(inspect.signature(getattr(Engine, call)).return_annotation)
