"""A JSON Schema given by hand judges answers, and is itself judged."""

from typing import Any

import pytest

from runwright import Json
from runwright.engine.authoring.conversion import NotConvertible, Unstorable, schema_of
from runwright.engine.authoring.conversion.jsonschema import Described

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "verdict": {"enum": ["clean", "issues"]},
        "score": {"type": "number", "minimum": 0, "exclusiveMaximum": 10},
        "notes": {"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2, "uniqueItems": True},
        "count": {"type": ["integer", "null"]},
        "tree": {"$ref": "#/$defs/tree"},
        "either": {"anyOf": [{"const": 1}, {"type": "string", "pattern": "^a"}]},
    },
    "required": ["verdict"],
    "additionalProperties": False,
    "$defs": {"tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}}},
}


@pytest.mark.parametrize(
    "value",
    [
        {"verdict": "clean"},
        {"verdict": "issues", "score": 9.5, "notes": ["abc", "b"], "count": None, "either": "ab"},
        {"verdict": "issues", "count": 3.0, "tree": {"left": {"left": {}}}, "either": 1},
    ],
    ids=str,
)
def test_what_fits_is_taken(value: Json) -> None:
    """A fitting answer is kept as it is."""
    assert Described(SCHEMA).load(value) == value


@pytest.mark.parametrize(
    ("value", "path", "problem"),
    [
        ([], "$", "expected object, found array"),
        ({}, "$.verdict", "missing"),
        ({"verdict": "x"}, "$.verdict", "none of clean, issues"),
        ({"verdict": "clean", "x": 1}, "$.x", "no such field"),
        ({"verdict": "clean", "score": 10}, "$.score", "a number under 10"),
        ({"verdict": "clean", "score": True}, "$.score", "expected number, found boolean"),
        ({"verdict": "clean", "notes": ["a", "b", "c"]}, "$.notes", "at most 2 items"),
        ({"verdict": "clean", "notes": ["a", "abcd"]}, "$.notes[1]", "at most 3 characters"),
        ({"verdict": "clean", "notes": ["a", "a"]}, "$.notes[1]", "there twice"),
        ({"verdict": "clean", "count": 1.5}, "$.count", "expected integer or null"),
        ({"verdict": "clean", "tree": {"left": 3}}, "$.tree.left", "expected object"),
        ({"verdict": "clean", "either": "b"}, "$.either", "none of the schema's options"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_where_it_stands(value: Json, path: str, problem: str) -> None:
    """The refusal names path and reason, so that an agent can correct itself."""
    with pytest.raises(NotConvertible) as refused:
        Described(SCHEMA).load(value)
    assert refused.value.path == path
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": []},
        {"type": "text"},
        {"properties": []},
        {"items": 3},
        {"pattern": "("},
        {"properties": {"a": {"if": {}}}},
    ],
    ids=str,
)
def test_a_schema_that_would_not_be_checked_is_refused(schema: dict[str, Any]) -> None:
    """A keyword is never ignored."""
    with pytest.raises(Unstorable):
        Described(schema)


def test_the_schema_is_kept_as_it_was_given() -> None:
    """What an agent is shown is what the author wrote."""
    assert schema_of(Described(SCHEMA)) == SCHEMA


def test_fixed_values_are_known_through_the_schema() -> None:
    """A switch on a schema's enum can be checked for missing cases."""
    verdict = Described(SCHEMA).child("verdict")
    assert verdict is not None
    assert verdict.finite() == ("clean", "issues")
