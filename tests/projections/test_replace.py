"""Fast copies of frozen rows."""

import attrs
import pytest
from attrs import frozen

from runwright.projections.control.registry import CONTROL
from runwright.projections.replace import field_types, from_tuple, replace, to_tuple
from support.told import completed, fold


@frozen(kw_only=True, weakref_slot=False)
class Fast:
    """A row with everything that a column can hold."""

    name: str
    number: int | None
    flag: bool
    other: bool | None


@frozen(kw_only=True)
class Slow:
    """A row whose class has weak references."""

    name: str
    flag: bool


@attrs.define
class Plain:
    """A row that is not frozen and takes positions."""

    name: str


ROW = Fast(name="a", number=None, flag=True, other=None)


def test_replace_equals_evolve() -> None:
    """A copy differs in the named fields and in nothing else, and the original stays."""
    copy = replace(ROW, number=4, flag=False)
    assert copy == attrs.evolve(ROW, number=4, flag=False)
    assert ROW.flag


def test_a_copy_is_frozen() -> None:
    """What comes out is a row like any other: nobody can change it."""
    copy = replace(ROW, name="b")
    assert type(copy) is Fast
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        copy.name = "c"  # type: ignore[misc]
    assert hash(copy) == hash(Fast(name="b", number=None, flag=True, other=None))


def test_an_unknown_field_is_refused() -> None:
    """A misspelt field is an error and not a new attribute."""
    with pytest.raises(AttributeError):
        replace(ROW, nmae="b")


@pytest.mark.parametrize("row", [ROW, Slow(name="x", flag=False), Plain("y")])
def test_tuples_and_back(row: object) -> None:
    """A row written as a tuple reads back equal, whatever its class; truth values come back as such."""
    cells = tuple(int(each) if isinstance(each, bool) else each for each in to_tuple(type(row))(row))
    back = from_tuple(type(row))(cells)
    assert back == row
    assert [type(each) for each in to_tuple(type(row))(back)] == [type(each) for each in to_tuple(type(row))(row)]
    assert replace(back) == row


def test_every_control_row_takes_the_fast_way() -> None:
    """No control row class falls back to the slow copies."""
    rows = fold(completed(steps=1))
    for projection in CONTROL:
        assert "__weakref__" not in projection.row.__slots__
        for row in rows.find(projection):
            assert replace(row) == row


def test_a_type_that_no_column_holds_is_named() -> None:
    """A list in a row is refused with the field's name."""

    @frozen
    class Wrong:
        many: list[int]

    with pytest.raises(TypeError, match="many"):
        field_types(Wrong)
