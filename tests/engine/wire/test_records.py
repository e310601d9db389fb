"""Classes as JSON and back: everything returns as it was, and what does not fit is named."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from runwright.engine.wire.errors import RecordRefused
from runwright.engine.wire.records import Tagged, read, write
from runwright.eventstore.values import Json, JsonObject, decode, encode
from strategies.values import json_values


@frozen(kw_only=True)
class Circle:
    """One of a union."""

    radius: float


@frozen(kw_only=True)
class TwoSided:
    """The other one."""

    sides: tuple[int, ...]


Form: TypeAlias = Circle | TwoSided


@frozen(kw_only=True)
class Everything:
    """A field of each kind."""

    text: str
    number: int
    flag: bool
    kind: Literal["a", "b"]
    value: Json
    fields: JsonObject
    where: Path
    form: Form
    maybe: Form | None = None
    limit: int | None = None
    forms: Mapping[str, Circle] = field(factory=dict[str, Circle])


circles = st.builds(Circle, radius=st.floats(allow_nan=False, allow_infinity=False))
forms = circles | st.builds(TwoSided, sides=st.lists(st.integers(), max_size=3).map(tuple))
everything = st.builds(
    Everything,
    text=st.text(max_size=5),
    number=st.integers(-(2**70), 2**70),
    flag=st.booleans(),
    kind=st.sampled_from(["a", "b"]),
    value=json_values,
    fields=st.dictionaries(st.text(max_size=3), json_values, max_size=3),
    where=st.just(Path("/a/b")),
    form=forms,
    maybe=st.none() | forms,
    limit=st.none() | st.integers(),
    forms=st.dictionaries(st.text(max_size=3), circles, max_size=3),
)

ONE = Everything(text="t", number=1, flag=True, kind="a", value=None, fields={}, where=Path("/"), form=Circle(radius=1))


@given(everything)
def test_a_record_comes_back(record: Everything) -> None:
    """Through JSON text, every field with its type."""
    assert read(Everything, decode(encode(write(record)))) == record


@pytest.mark.parametrize(
    ("name", "value", "path", "problem"),
    [
        ("text", 1, "$.text", "is no text"),
        ("number", "1", "$.number", "is no whole number"),
        ("number", True, "$.number", "is no whole number"),
        ("number", 1.0, "$.number", "is no whole number"),
        ("flag", 1, "$.flag", "is no truth value"),
        ("kind", "hunter2", "$.kind", "is none of the words that are known here"),
        ("fields", [], "$.fields", "is no object"),
        ("where", 1, "$.where", "is no path"),
        ("form", {"type": "hunter2"}, "$.form.type", "is no type that is known here"),
        ("form", {"type": "circle", "radius": "x"}, "$.form.radius", "is no number"),
        ("form", {"type": "two_sided", "sides": [1, "2"]}, "$.form.sides[1]", "is no whole number"),
        ("form", {"type": "two_sided"}, "$.form.sides", "is missing"),
        ("form", None, "$.form", "is no object"),
        ("limit", "x", "$.limit", "is no whole number"),
        ("forms", {"hunter2": {"radius": None}}, "$.forms[…].radius", "is no number"),
        ("other", 1, "$", "has the unknown field other"),
        ("hunter2 is the password", 1, "$", "has the unknown field …"),
    ],
)
def test_what_does_not_fit_is_named(name: str, value: Any, path: str, problem: str) -> None:
    """The field and the problem, and no value."""
    with pytest.raises(RecordRefused) as refused:
        read(Everything, {**write(ONE), name: value})
    assert (refused.value.path, refused.value.problem) == (path, problem)
    assert "hunter2" not in str(refused.value)


@given(json_values)
def test_rubbish_is_refused(rubbish: Json) -> None:
    """Any JSON is a record, or refused with one error."""
    with pytest.raises(RecordRefused):
        read(Everything, rubbish)


def test_a_missing_field_takes_its_default_where_it_has_one() -> None:
    """Only what has no default has to be there."""
    data = write(ONE)
    del data["maybe"], data["forms"]
    assert read(Everything, data) == ONE
    del data["text"]
    with pytest.raises(RecordRefused, match=r"\$\.text is missing"):
        read(Everything, data)


def test_tags_tell_classes_apart() -> None:
    """A tag of ours stands for each class; any other is refused."""
    tagged: Tagged[Any] = Tagged({"form.circle": Circle, "form.two": TwoSided})
    assert tagged.write(Circle(radius=2.0)) == {"type": "form.circle", "radius": 2.0}
    assert tagged.read({"type": "form.two", "sides": [1]}) == TwoSided(sides=(1,))
    unfit: list[Json] = [{"type": "circle"}, {"type": 1}, {}, [], None, {"type": "form.two", "sides": [], "x": 1}]
    for rubbish in unfit:
        with pytest.raises(RecordRefused):
            tagged.read(rubbish)
