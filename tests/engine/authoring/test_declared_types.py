"""Declared types: what their schema says, and why some cannot be stored."""

from pathlib import Path
from typing import Any

import attrs
import pytest

from runwright.engine.authoring.conversion import Unstorable, schema_of, storable
from support.declared import Box, Cat, Point, T, Tree, named


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        (set[int], "set cannot be stored"),
        (bytes, "bytes cannot be stored"),
        (dict[int, str], "keys that are no text"),
        (list[frozenset[str]], "frozenset cannot be stored"),
        (int | bytes, "bytes cannot be stored"),
        (str | Path, "look the same in JSON"),
        (list[int] | list[str], "look the same in JSON"),
        (Point | dict[str, int], "look the same in JSON"),
        (Point | Box[int] | Tree, None),
        (T, "cannot be stored"),
        (object(), "cannot be stored"),
        ("Nowhere", "cannot be read"),
    ],
    ids=named,
)
def test_types_that_cannot_be_stored_say_why(declared: Any, problem: str | None) -> None:
    """A type is judged before any value of it exists, with a fix."""
    refusal = storable(declared)
    if problem is None:
        assert refusal is None
    else:
        assert isinstance(refusal, Unstorable)
        assert problem in refusal.problem
        assert refusal.fix


def test_a_bad_field_is_named() -> None:
    """The class and the field of what cannot be stored stand in the problem."""

    @attrs.frozen
    class Bag:
        items: set[int]

    refusal = storable(list[Bag])
    assert refusal is not None
    assert refusal.problem == "Bag.items: set cannot be stored"


def test_the_schema_of_a_class_is_what_an_agent_needs() -> None:
    """Fields, required ones, defaults, fixed values, and nothing else allowed."""
    assert schema_of(Cat) == {
        "type": "object",
        "properties": {"kind": {"enum": ["cat"]}, "lives": {"type": "integer", "default": 9}},
        "additionalProperties": False,
        "required": ["kind"],
    }


def test_the_schema_of_a_class_that_contains_itself_refers_to_itself() -> None:
    """Recursion becomes a reference, not an endless schema."""
    schema = schema_of(Tree)
    assert schema["$ref"] == "#/$defs/Tree"
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    assert set(definitions) == {"Tree"}
