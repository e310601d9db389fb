"""Declared types: what their schema says, and why some cannot be stored."""

import functools
import typing
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from runwright.engine.authoring.conversion import NotConvertible, Unstorable, from_json, schema_of, storable, to_json
from runwright.engine.authoring.outputs import return_type
from support.declared import Box, Cat, Point, T, Tree, named


class TypeAliasType:
    """As the `type` statement makes them: what it stands for is asked late, so it may hold itself."""

    @property
    def __value__(self) -> Any:
        """A list of what it is itself."""
        return list.__class_getitem__(self)


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
        (TypeAliasType(), "contains itself with no class between"),
        (tuple[int, *tuple[str, ...]], "unpacked tuple"),
        (typing.List, None),  # noqa: UP006 (as people still write it)
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


@pytest.mark.parametrize(
    ("declared", "value"),
    [(typing.List, [1, "a"]), (typing.Dict, {"a": [1]}), (typing.Tuple, (1, "a"))],  # noqa: UP006
    ids=["list", "dict", "tuple"],
)
def test_old_names_of_the_containers_are_the_containers(declared: Any, value: object) -> None:
    """Bare ones hold plain JSON: two ended the check in an error of its own, and the third took no item."""
    assert from_json(to_json(value, declared), declared) == value


def test_the_longest_time_is_refused_in_words() -> None:
    """Rounded to a float it is longer than any."""
    with pytest.raises(NotConvertible, match="too long to keep its microseconds"):
        to_json(timedelta.max, timedelta)


def test_the_annotation_of_a_wrapped_function_is_read_where_it_was_written() -> None:
    """A decorator from another module has copied the text, and knows none of its names."""
    elsewhere: dict[str, Any] = {"functools": functools}
    exec("def deco(f):\n    @functools.wraps(f)\n    def g(*a):\n        return f(*a)\n    return g", elsewhere)

    def locate(ctx: object) -> "Point":
        return Point(1, 2)

    assert return_type(elsewhere["deco"](locate)) is Point
    assert return_type(functools.lru_cache(locate)) is Point
