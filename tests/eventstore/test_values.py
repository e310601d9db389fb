"""Values: what JSON can carry goes round unchanged, and everything else is refused by name and place."""

import enum
import json
import math
from collections import Counter, OrderedDict
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwright.eventstore.errors import PayloadTooLarge, ValueRefused
from runwright.eventstore.values import MAX_DEPTH, MAX_VALUE, decode, encode
from strategies.values import json_values


class Colour(enum.IntEnum):
    """Something that CPython's encoder takes for a number."""

    RED = 1


class Name(str):
    """Something that CPython's encoder takes for a text."""

    __slots__ = ()


def same(one: Any, other: Any) -> bool:
    """Compare values and their exact types, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) and (not isinstance(one, float) or math.copysign(1, one) == math.copysign(1, other))


@given(json_values)
def test_a_value_goes_round(value: Any) -> None:
    """What is decoded is what was encoded, by value and by exact type."""
    assert same(decode(encode(value)), value)


@given(json_values)
def test_the_text_is_canonical(value: Any) -> None:
    """There is one text for a value: encoding what was decoded gives it again, in UTF-8."""
    text = encode(value)
    assert encode(decode(text)) == text
    assert text.encode().decode() == text


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.none()))
def test_keys_stand_in_the_order_of_their_code_points(value: dict[str, None]) -> None:
    """Keys are sorted by code point, not by UTF-16 unit and not as they came."""
    assert list(json.loads(encode(value))) == sorted(value)


def test_the_text_has_no_spaces_and_keeps_letters() -> None:
    """No spaces, no escapes that UTF-8 does not need, shortest floats."""
    assert encode({"b": [1, 2.50, True, None], "a": "é\u2028\n"}) == '{"a":"é\u2028\\n","b":[1,2.5,true,null]}'


CYCLE: list[Any] = []
CYCLE.append({"again": CYCLE})


def nested(depth: int) -> Any:
    """Answer a list that is so deep."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


REFUSED = [
    ({"a": [1, {"b": math.nan}]}, "$.a[1].b", "NaN"),
    ({"a": [math.inf]}, "$.a[0]", "infinite"),
    ([-math.inf], "$[0]", "infinite"),
    ({"a b": {"c": (1, 2)}}, '$["a b"].c', "tuple"),
    ({"a": {1, 2}}, "$.a", "set"),
    ({"a": b"x"}, "$.a", "bytes"),
    ({"a": {1: 2}}, "$.a", "key"),
    ({True: 1}, "$", "key"),
    ({None: 1}, "$", "key"),
    ({"a": Colour.RED}, "$.a", "Colour"),
    ({"a": Name("x")}, "$.a", "Name"),
    ({Name("x"): 1}, "$", "key"),
    (Counter("aab"), "$", "Counter"),
    ({"a": OrderedDict()}, "$.a", "OrderedDict"),
    (Decimal(1), "$", "Decimal"),
    (object(), "$", "object"),
    (["\ud800"], "$[0]", "surrogate"),
    ({"\udfff": 1}, "$", "surrogate"),
    ({"n": 10**4300}, "$.n", "4,300 digits"),
    ({"n": -(10**4300)}, "$.n", "4,300 digits"),
    (CYCLE, "$[0].again", "itself"),
    (nested(MAX_DEPTH + 1), "$" + "[0]" * MAX_DEPTH, "200 deep"),
]


@pytest.mark.parametrize(("value", "path", "problem"), REFUSED)
def test_what_json_has_not_is_refused_where_it_stands(value: Any, path: str, problem: str) -> None:
    """The refusal names the JSON path, the problem and a fix."""
    with pytest.raises(ValueRefused) as refused:
        encode(value)
    assert refused.value.path == path
    assert problem in refused.value.problem
    assert refused.value.fix
    assert str(refused.value).startswith(path)


def test_the_limits_themselves_are_allowed() -> None:
    """200 levels, and integers of 4,300 digits, go through and come back."""
    assert decode(encode(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    assert decode(encode(10**4300 - 1)) == 10**4300 - 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("NaN", "NaN"),
        ("[Infinity]", "Infinity"),
        ("-Infinity", "Infinity"),
        ("1e400", "too large"),
        ("[-1e400]", "too large"),
        ('{"a":1,"a":1}', "equal keys"),
        (r'"\ud800"', "surrogate"),
        (r'{"\udc00":1}', "surrogate"),
        ("[1,]", "no JSON"),
        ("", "no JSON"),
        ("1 2", "no JSON"),
        ("9" * 4301, "digits"),
        ("[" * 201 + "]" * 201, "deep"),
        ("[" * 100_000 + "]" * 100_000, "deep"),
    ],
)
def test_text_from_outside_is_read_strictly(text: str, problem: str) -> None:
    """Nothing gets in that could not have been written, whatever CPython's decoder thinks of it."""
    with pytest.raises(ValueRefused, match=problem):
        decode(text)


def test_a_value_over_16_mib_is_too_large() -> None:
    """The limit is on bytes, not on letters."""
    assert len(encode("x" * (MAX_VALUE - 2))) == MAX_VALUE
    with pytest.raises(PayloadTooLarge):
        encode("x" * (MAX_VALUE - 1))
    with pytest.raises(PayloadTooLarge):
        encode("é" * (MAX_VALUE // 2))
    with pytest.raises(PayloadTooLarge):
        decode('"' + "x" * MAX_VALUE + '"')


def test_a_small_value_that_unfolds_into_a_huge_one_is_found_early() -> None:
    """Lists that share their elements are counted as often as they would be written."""
    bomb: Any = [0] * 10
    for _ in range(50):
        bomb = [bomb] * 10
    with pytest.raises(PayloadTooLarge):
        encode(bomb, 20_000)


def test_no_message_holds_the_value() -> None:
    """Errors name the place and the type, never the content."""
    secret = "hunter2-marker"
    with pytest.raises(ValueRefused) as refused:
        encode({"a": (secret,), "b": 1})
    assert secret not in str(refused.value)
    with pytest.raises(ValueRefused) as refused:
        decode('{"a": ' + secret)
    assert secret not in str(refused.value)
