"""The small path language reads and writes the same text, and takes nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwright.engine.authoring.jsonpath import MISSING, PathInvalid, Step, find, parse, write

DOCUMENT = {"a": [1, {"b": None}], "any key": {"-": True}, "x-y": 2}


@pytest.mark.parametrize(
    ("text", "steps", "value"),
    [
        ("$", (), DOCUMENT),
        ("$.a", ("a",), DOCUMENT["a"]),
        ("$.a[1].b", ("a", 1, "b"), None),
        ('$["any key"]["-"]', ("any key", "-"), True),
        ("$.x-y", ("x-y",), 2),
        ("$.a[2]", ("a", 2), MISSING),
        ("$.a.b", ("a", "b"), MISSING),
        ("$.nope", ("nope",), MISSING),
        ('$.a["0"]', ("a", "0"), MISSING),
    ],
)
def test_a_path_leads_to_its_value(text: str, steps: tuple[Step, ...], value: object) -> None:
    """Keys lead into objects, numbers into arrays, and null is no missing value."""
    assert parse(text) == steps
    assert find(DOCUMENT, steps) == value  # type: ignore[arg-type]  # the document's type is narrower than Json


@pytest.mark.parametrize(
    "text", ["", "a", "$a", "$.", "$..a", "$[-1]", "$[01]", "$[*]", "$['a']", "$.a[", '$["a]', "$ ", "$.1"]
)
def test_anything_else_is_no_path(text: str) -> None:
    """The refusal says where it stops to fit."""
    with pytest.raises(PathInvalid, match="is no path: character"):
        parse(text)


@given(st.lists(st.text() | st.integers(0, 10**6)))
def test_what_is_written_is_read_back(steps: list[Step]) -> None:
    """Any keys and indexes survive the round trip."""
    try:
        "".join(str(step) for step in steps).encode()
    except UnicodeEncodeError:
        return
    assert parse(write(steps)) == tuple(steps)
