"""Are messages read strictly: every field known, there, and within its limits?"""

from contextlib import suppress
from typing import Any

import pytest
from attrs import fields, frozen
from hypothesis import given
from hypothesis import strategies as st

from runwright.engine.protocol.fields import Part, document, load, of, parts_of, schema
from runwright.engine.protocol.kinds import (
    AnyJson,
    AnyObject,
    Many,
    Maybe,
    Name,
    Number,
    OneOf,
    Prose,
    Table,
    Truth,
    Unfit,
    Whole,
)


@frozen(kw_only=True)
class Inner:
    """A part."""

    word: str = of(Name(4))


@frozen(kw_only=True)
class Outer:
    """A message."""

    name: str = of(Name(8, "[a-z]+"))
    text: str = of(Prose(4), default="")
    count: int = of(Whole(1, 9), default=1)
    share: float = of(Number(1), default=0.0)
    sure: bool = of(Truth(), default=False)
    kind: str = of(OneOf(("a", "b")), default="a")
    value: Any = of(AnyJson(16), default=None)
    object: Any = of(AnyObject(16), default=None)
    words: tuple[str, ...] = of(Many(Name(4), 2), default=())
    table: dict[str, int] = of(Table(Name(4), Whole(), 2), default=None)
    inner: Inner | None = of(Maybe(Part(Inner)), default=None)


def problem_of(message: Any) -> tuple[str, str]:
    """Where a message does not fit, and why."""
    with pytest.raises(Unfit) as unfit:
        load(Outer, message)
    return unfit.value.path, unfit.value.problem


def test_what_fits_comes_back() -> None:
    """A message that was read and written again is the same, its defaults filled in."""
    message: dict[str, Any] = {
        "name": "abc", "text": "äö", "count": 9, "share": 0.5, "sure": True, "kind": "b", "value": [1],
        "object": {"a": None}, "words": ["x", "y"], "table": {"k": 1}, "inner": {"word": "w"},
    }  # fmt: skip
    found = load(Outer, message)
    assert document(found) == message
    assert found.inner == Inner(word="w")
    assert load(Outer, {"name": "abc"}).count == 1


@pytest.mark.parametrize(
    ("change", "path", "says"),
    [
        ({"nam": 1}, ".nam", "no field"),
        ({"name": 1}, ".name", "no text"),
        ({"name": ""}, ".name", "empty"),
        ({"name": "a\n"}, ".name", "control"),
        ({"name": "A"}, ".name", "form"),
        ({"name": "a" * 9}, ".name", "more than 8"),
        ({"text": "äöü"}, ".text", "more than 4 bytes"),
        ({"text": "\ud800"}, ".text", "surrogate"),
        ({"count": True}, ".count", "whole"),
        ({"count": 1.0}, ".count", "whole"),
        ({"count": 0}, ".count", "between"),
        ({"share": "1"}, ".share", "number"),
        ({"share": 2}, ".share", "between"),
        ({"share": True}, ".share", "number"),
        ({"sure": 1}, ".sure", "true nor false"),
        ({"kind": "c"}, ".kind", "none of a, b"),
        ({"value": "x" * 17}, ".value", "more than 16 bytes"),
        ({"value": {"a": "\ud800"}}, ".value.a", "surrogate"),
        ({"object": []}, ".object", "object"),
        ({"words": "x"}, ".words", "list"),
        ({"words": ["a", "b", "c"]}, ".words", "more than 2"),
        ({"words": ["a", ""]}, ".words[1]", "empty"),
        ({"table": {"a": -1}}, ".table.a", "between"),
        ({"table": {"a": 1, "b": 1, "c": 1}}, ".table", "more than 2"),
        ({"inner": {}}, ".inner.word", "missing"),
        ({"inner": {"word": "w", "more": 1}}, ".inner.more", "no field"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], path: str, says: str) -> None:
    """A field that is unknown, missing, of another type or beyond its limit is refused by its path."""
    where, why = problem_of({"name": "abc", **change})
    assert where == path
    assert says in why


def test_a_message_is_an_object() -> None:
    """Anything but an object is refused, and a field without a default has to be there."""
    assert problem_of([]) == ("", "is no object")
    assert problem_of({}) == (".name", "is missing")


def test_a_refusal_repeats_no_value() -> None:
    """What stands in a field is never repeated; of an unknown field only its name is, and not all of it."""
    where, why = problem_of({"name": "SECRET-VALUE"})
    assert "SECRET" not in where + why
    assert len(problem_of({"x" * 5000: 1})[0]) < 100
    assert "\x1b" not in problem_of({"\x1b[31m": 1})[0]


def test_the_schema_says_the_same() -> None:
    """Required fields, limits and references stand in the schema, and no other field is allowed."""
    found = schema(Outer)
    assert found["required"] == ["name"]
    assert found["additionalProperties"] is False
    properties = found["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == [each.name for each in fields(Outer)]
    assert properties["name"] == {"type": "string", "minLength": 1, "maxLength": 8, "pattern": "^(?:[a-z]+)$"}
    assert properties["count"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 1}
    assert properties["inner"] == {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}], "default": None}
    assert parts_of(Outer) == {Outer, Inner}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(
    JSON_VALUES | st.fixed_dictionaries({"name": JSON_VALUES}, optional={"inner": JSON_VALUES, "table": JSON_VALUES})
)
def test_no_message_breaks_the_reader(message: Any) -> None:
    """Whatever JSON arrives, it is read or refused with a path."""
    with suppress(Unfit):
        assert document(load(Outer, message))["name"] == message["name"]
