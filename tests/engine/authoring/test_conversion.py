"""Values become JSON by their declared types, and come back as they were."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NewType
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwright import Json, JsonObject, ShellResult
from runwright.engine.authoring.conversion import NotConvertible, from_json, schema_of, to_json
from runwright.eventstore.values import decode, encode
from support.declared import Box, Cat, Colour, Dog, Level, Line, Point, Positive, Row, Tree, named

Name = NewType("Name", str)
NOW = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


ROUND_TRIPS: list[tuple[Any, Any]] = [
    (None, None),
    (bool, True),
    (int, 3),
    (float, 2.5),
    (str, "é"),
    (Any, {"a": [1, None, True, "x", 1.5]}),
    (JsonObject, {"a": {"b": []}}),
    (Json, [1]),
    (list[int], [1, 2]),
    (dict[str, list[float]], {"a": [1.0]}),
    (tuple[int, str], (1, "a")),
    (tuple[int, ...], (1, 2, 3)),
    (tuple[()], ()),
    (Literal["a", 1, True], True),
    (Colour, Colour.BLUE),
    (Level, Level.HIGH),
    (int | None, None),
    (int | None, 4),
    (int | float, 4),
    (int | float, 4.0),
    (float | int, 4),
    (str | list[str], ["a"]),
    (Cat | Dog, Dog("dog")),
    (Cat | Dog | None, Cat("cat", 3)),
    (Point, Point(1, 2.0)),
    (Line, Line((Point(1), Point(2)), ["t"])),
    (Row, {"name": "a"}),
    (Row, {"name": "a", "size": 3}),
    (Tree, Tree("a", [Tree("b")])),
    (Box[Point], Box(Point(1))),
    (Box[list[int]], Box([1])),
    (Name, Name("n")),
    (datetime, NOW),
    (datetime, datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2)))),
    (timedelta, timedelta(days=3, microseconds=7)),
    (timedelta, timedelta(seconds=90)),
    (Path, Path("a/b")),
    (UUID, UUID(int=7)),
    (Decimal, Decimal("1.10")),
    (ShellResult, ShellResult("out", exit_code=1)),
]


@pytest.mark.parametrize(("declared", "value"), ROUND_TRIPS, ids=str)
def test_a_value_comes_back_as_it_was(declared: Any, value: Any) -> None:
    """Through canonical JSON text and back, value and type are the same (C59)."""
    text = encode(to_json(value, declared))
    back = from_json(decode(text), declared)
    assert back == value
    assert type(back) is type(value)
    assert encode(to_json(back, declared)) == text


@pytest.mark.parametrize("declared", [each for each, _ in ROUND_TRIPS], ids=str)
def test_every_type_has_a_schema(declared: Any) -> None:
    """A schema is a JSON object that strict parsers take."""
    assert isinstance(json.loads(encode(schema_of(declared))), dict)


REFUSED: list[tuple[Any, Any, str, str]] = [
    (Any, {"a": [1, {"b": float("nan")}]}, "$.a[1].b", "nan is no JSON number"),
    (float, float("inf"), "$", "inf is no JSON number"),
    (list[float], [1.0, float("-inf")], "$[1]", "-inf is no JSON number"),
    (Any, {"a": {1, 2}}, "$.a", "found a set"),
    (Any, [b"x"], "$[0]", "found a bytes"),
    (Any, (1, 2), "$", "found a tuple"),
    (Any, Counter("aa"), "$", "found a Counter"),
    (Any, Colour.RED, "$", "found a Colour"),
    (Any, Level.LOW, "$", "found a Level"),
    (Any, NOW, "$", "found a datetime"),
    (Any, {1: "a"}, "$", "expected text as a key, found int"),
    (Any, object(), "$", "found an object"),
    (Any, iter([]), "$", "found a list_iterator"),
    (Any, {"strange key": {"a": set()}}, '$["strange key"].a', "found a set"),
    (Any, "\ud800", "$", "half of a character pair"),
    (list[int], (1,), "$", "expected a list, found a tuple"),
    (list[int], [1, "2"], "$[1]", "expected an int, found a str"),
    (int, True, "$", "expected an int, found a bool"),
    (bool, 1, "$", "expected a bool, found an int"),
    (float, 10**400, "$", "too large for a float"),
    (float, 2**53 + 1, "$", "more digits than a float keeps"),
    (dict[str, int], {"a": None}, "$.a", "expected an int, found a NoneType"),
    (dict[str, int], Counter("a"), "$", "expected a dict, found a Counter"),
    (tuple[int, int], (1,), "$", "expected 2 items, found 1"),
    (Point, {"x": 1}, "$", "expected a Point, found a dict"),
    (Point, Point(1, "no"), "$.y", "expected a float, found a str"),  # type: ignore[arg-type]
    (Row, {"size": 1}, "$.name", "the field is missing"),
    (Row, {"name": "a", "other": 1}, "$.other", "no such field"),
    (Line, Line((Point(1), Point(None))), "$.ends[1].x", "expected an int, found a NoneType"),  # type: ignore[arg-type]
    (datetime, NOW.replace(tzinfo=None), "$", "without a time zone"),
    (list[datetime], [NOW, NOW.replace(tzinfo=None)], "$[1]", "without a time zone"),
    (Literal["a"], "b", "$", "none of"),
    (Colour, "red", "$", "expected a Colour, found a str"),
    (Decimal, Decimal("NaN"), "$", "no decimal number"),
    (timedelta, timedelta(days=900_000_000, microseconds=1), "$", "too long"),
    (int | None, "x", "$", "expected an int | None, found a str"),
]


@pytest.mark.parametrize(("declared", "value", "path", "problem"), REFUSED, ids=named)
def test_what_is_not_of_its_type_is_refused_where_it_stands(declared: Any, value: Any, path: str, problem: str) -> None:
    """A refusal names the path and the types (C56, C59, C61), and no value."""
    with pytest.raises(NotConvertible) as refused:
        to_json(value, declared)
    assert refused.value.path == path
    assert problem in str(refused.value)


UNREADABLE: list[tuple[Any, Json, str, str]] = [
    (int, "3", "$", "expected a whole number, found a string"),
    (int, 3.5, "$", "found a number"),
    (int, True, "$", "found a boolean"),
    (Point, {"x": 1, "z": 2}, "$.z", "no such field"),
    (Point, {}, "$.x", "missing"),
    (list[Point], [{"x": 1}, {"x": None}], "$[1].x", "found null"),
    (datetime, "2026-01-01T00:00:00", "$", "without an offset"),
    (datetime, "tomorrow", "$", "no RFC 3339 time"),
    (UUID, "x", "$", "no UUID"),
    (Decimal, "x", "$", "no decimal number"),
    (Decimal, "Infinity", "$", "no decimal number"),
    (Colour, "green", "$", 'none of "red", "blue"'),
    (Cat | Dog, {"kind": "cow"}, "$.kind", "none of"),
    (Cat | Dog, {"kind": "dog", "lives": "x"}, "$.lives", "whole number"),
    (int | None, "x", "$", "string fits none of int | None"),
    (tuple[int, int], [1], "$", "expected 2 items"),
    (timedelta, 1e300, "$", "too large"),
]


@pytest.mark.parametrize(("declared", "document", "path", "problem"), UNREADABLE, ids=named)
def test_json_that_does_not_fit_is_refused_where_it_stands(
    declared: Any, document: Json, path: str, problem: str
) -> None:
    """An answer, or an input, is refused with the path and the reason."""
    with pytest.raises(NotConvertible) as refused:
        from_json(document, declared)
    assert refused.value.path == path
    assert problem in str(refused.value)


def test_a_whole_number_may_be_written_as_a_float() -> None:
    """JSON Schema calls 3.0 an integer, and an agent reads the schema."""
    assert from_json(3.0, int) == 3
    assert type(from_json(3.0, int)) is int


def test_what_a_class_refuses_stays_private() -> None:
    """A constructor's own text is kept apart from the message that may be shown."""
    with pytest.raises(NotConvertible) as refused:
        from_json({"a": {"n": 0}}, dict[str, Positive])
    assert str(refused.value) == "$.a: Positive refused the value (ValueError)"
    assert refused.value.detail == "secret 0"


def test_an_exception_that_cannot_speak_is_still_a_refusal() -> None:
    """Its text is left out (C61)."""

    class Mute(Exception):
        def __init__(self, one: object, two: object) -> None:
            super().__init__()

        def __str__(self) -> str:
            raise RuntimeError

    @attrs.frozen
    class Refusing:
        n: int

        def __attrs_post_init__(self) -> None:
            raise Mute(1, 2)

    with pytest.raises(NotConvertible, match=r"Refusing refused the value \(Mute\)") as refused:
        from_json({"n": 1}, Refusing)
    assert refused.value.detail == ""


def test_what_contains_itself_is_refused() -> None:
    """A list inside itself has no JSON."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(NotConvertible, match="contains itself"):
        to_json(endless, Any)


def test_a_rebuilt_value_shares_nothing() -> None:
    """What a function does to an output reaches nobody else."""
    document: Json = {"a": [1]}
    rebuilt: Any = from_json(document, Any)
    rebuilt["a"].append(2)
    assert document == {"a": [1]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_plain_json_is_kept_as_it_is(value: Json) -> None:
    """Any plain JSON comes back equal, types included."""
    assert encode(from_json(decode(encode(to_json(value, Any))), Any)) == encode(value)


@given(st.timedeltas(min_value=timedelta(days=-36500), max_value=timedelta(days=36500)))
def test_times_keep_their_microseconds(value: timedelta) -> None:
    """A hundred years to the microsecond."""
    assert from_json(decode(encode(to_json(value, timedelta))), timedelta) == value


def test_pydantic_models_are_stored_where_pydantic_is() -> None:
    """A model is read, written and described by itself."""
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        name: str
        size: int = 1

    assert from_json(decode(encode(to_json(Model(name="a"), Model))), Model) == Model(name="a")
    assert schema_of(Model)["required"] == ["name"]
    with pytest.raises(NotConvertible) as refused:
        from_json([{"name": 3}], list[Model])
    assert refused.value.path == "$[0].name"
