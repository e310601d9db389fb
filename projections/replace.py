"""Fast copies of frozen rows: one function per class and change, written out once and compiled.

A frozen class refuses assignment, and what goes around that field by field is slow. So each class gets a
*draft*: an ordinary class with the very same slots, which is filled by plain assignment and then becomes a row
by taking on its class. Row classes therefore are slotted and have no weak references
(``@frozen(kw_only=True, weakref_slot=False)``); others work too, through attrs, only slower.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import attrs

RowT = TypeVar("RowT")

#: By class and the names that change: few rows change in more than a dozen ways.
_replacers: dict[tuple[Any, ...], Callable[[Any, dict[str, object]], Any]] = {}


def replace(row: RowT, **changes: object) -> RowT:
    """Copy a row with some fields changed.

    Args:
        row: A frozen row.
        **changes: New values by field name.

    Returns:
        A new row of the same class.
    """
    shape = (row.__class__, *changes)
    replacer = _replacers.get(shape)
    if replacer is None:
        replacer = _replacers[shape] = _replacer(row.__class__, tuple(changes))
    return cast(RowT, replacer(row, changes))


def field_types(row_class: type) -> dict[str, tuple[type, bool]]:
    """Name each field's plain type and whether it may be ``None``, in order.

    Args:
        row_class: An attrs class whose fields are ``str``, ``int``, ``bool``, ``float``, ``bytes`` or one of
            those or ``None``.

    Returns:
        Field name to type and nullability.

    Raises:
        TypeError: A field has another type.
    """
    hints = get_type_hints(row_class)
    found: dict[str, tuple[type, bool]] = {}
    for name in field_names(row_class):
        hint = hints[name]
        parts = set(get_args(hint)) if get_origin(hint) in (Union, UnionType) else {hint}
        nullable = type(None) in parts
        plain = parts - {type(None)}
        if len(plain) != 1 or not plain <= {str, int, bool, float, bytes}:
            raise TypeError(f"{row_class.__name__}.{name} has a type that no column can hold: {hint}")
        found[name] = (plain.pop(), nullable)
    return found


def field_names(row_class: type) -> tuple[str, ...]:
    """Name the fields of a row class in order, which is the order of its columns."""
    return tuple(each.name for each in attrs.fields(cast(Any, row_class)))


def to_tuple(row_class: type) -> Callable[[Any], tuple[Any, ...]]:
    """Make the function that turns a row into the values of its columns."""
    names = field_names(row_class)
    if len(names) == 1:
        only = attrgetter(names[0])
        return lambda row: (only(row),)
    return cast("Callable[[Any], tuple[Any, ...]]", attrgetter(*names))


def from_tuple(row_class: type[RowT]) -> Callable[[Sequence[Any]], RowT]:
    """Make the function that turns the values of the columns into a row (truth values come back as such)."""
    names = field_names(row_class)
    flags = [name for name, (plain, _) in field_types(row_class).items() if plain is bool]
    draft = _draft(row_class)
    if draft is None:
        return lambda values: row_class(
            **{
                name: bool(value) if name in flags and value is not None else value
                for name, value in zip(names, values, strict=True)
            }
        )
    lines = [
        "def load(values):",
        "    row = new(draft)",
        f"    ({', '.join(f'row.{name}' for name in names)},) = values",
        *(f"    if row.{name} is not None: row.{name} = row.{name} != 0" for name in flags),
        "    row.__class__ = final",
        "    return row",
    ]
    return cast("Callable[[Sequence[Any]], RowT]", _compiled(lines, "load", draft, row_class))


def _replacer(row_class: type, changed: tuple[str, ...]) -> Callable[[Any, dict[str, object]], Any]:
    draft, names = _draft(row_class), field_names(row_class)
    if unknown := [name for name in changed if name not in names]:
        raise AttributeError(f"{row_class.__name__} has no field {unknown[0]}")
    if draft is None:
        return lambda row, changes: attrs.evolve(row, **changes)
    lines = [
        "def copy(row, changes):",
        "    other = new(draft)",
        *(f"    other.{name} = {f'changes[{name!r}]' if name in changed else f'row.{name}'}" for name in names),
        "    other.__class__ = final",
        "    return other",
    ]
    return cast("Callable[[Any, dict[str, object]], Any]", _compiled(lines, "copy", draft, row_class))


def _compiled(lines: list[str], name: str, draft: type, final: type) -> Any:
    scope: dict[str, Any] = {"new": object.__new__, "draft": draft, "final": final}
    # The text holds nothing but field names of a class that stands in the program.
    exec("\n".join(lines), scope)  # noqa: S102
    return scope[name]


def _draft(row_class: type) -> type | None:
    slots = row_class.__dict__.get("__slots__")
    if slots is None:
        return None
    body = {"__slots__": tuple(slots), "__setattr__": object.__setattr__}
    draft = type(f"{row_class.__name__}Draft", row_class.__bases__, body)
    trial: Any = object.__new__(draft)
    try:
        trial.__class__ = row_class
    except TypeError:  # another layout, by weak references for one
        return None
    return draft
