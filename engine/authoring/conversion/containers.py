"""The shapes of what holds other values: plain JSON, lists, objects, tuples and unions."""

from typing import Any

from runwright.engine.authoring.conversion.scalars import finite, text
from runwright.engine.authoring.conversion.shape import (
    NotConvertible,
    Refs,
    Shape,
    Unstorable,
    kind_of,
    wrong,
    wrong_json,
)
from runwright.engine.authoring.jsonpath import Step
from runwright.eventstore.values import Json, JsonObject


class Plain(Shape):
    """Any JSON, of exactly JSON's own types, so that nothing is flattened silently."""

    name = "JSON value"
    kinds = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})

    def owns(self, value: object) -> bool:
        return value is None or type(value) in (bool, int, float, str, list, dict)

    def dump(self, value: Any) -> Json:
        return copied(value)

    def load(self, value: Json) -> Any:
        return copied(value)

    def schema(self, refs: Refs) -> JsonObject:
        return {}

    def child(self, step: Step) -> Shape:
        return self


PLAIN = Plain()


def copied(value: Any) -> Json:
    """A strict walk through plain JSON that shares nothing with what it was given."""
    kind = type(value)
    if value is None or kind is bool or kind is int:
        return value  # type: ignore[no-any-return]  # narrowed by its exact type, which mypy does not follow
    if kind is str:
        return text(value)
    if kind is float:
        return finite(value)
    if kind is list:
        items: list[Json] = []
        try:
            for item in value:
                items.append(copied(item))
        except NotConvertible as problem:
            raise problem.under(len(items)) from None
        return items
    if kind is dict:
        return {_key(key): _copied_under(key, item) for key, item in value.items()}
    if kind.__name__ == "datetime":
        raise NotConvertible("expected a JSON value, found a datetime", "annotate the type: `-> datetime`")
    raise wrong("JSON value", value)


def _copied_under(key: str, value: Any) -> Json:
    try:
        return copied(value)
    except NotConvertible as problem:
        raise problem.under(key) from None


def _key(key: object) -> str:
    if type(key) is not str:
        raise NotConvertible(f"expected text as a key, found {type(key).__name__}", "write `str(key)`")
    return text(key)


class List(Shape):
    """A list of one type."""

    kinds = frozenset({"array"})

    def __init__(self, item: Shape) -> None:
        self.name = "list"
        self._item = item

    def owns(self, value: object) -> bool:
        return type(value) is list

    def dump(self, value: Any) -> Json:
        if type(value) is not list:
            raise wrong(self.name, value)
        items: list[Json] = []
        try:
            for item in value:
                items.append(self._item.dump(item))
        except NotConvertible as problem:
            raise problem.under(len(items)) from None
        return items

    def load(self, value: Json) -> Any:
        if not isinstance(value, list):
            raise wrong_json("array", value)
        items: list[Any] = []
        try:
            for item in value:
                items.append(self._item.load(item))
        except NotConvertible as problem:
            raise problem.under(len(items)) from None
        return items

    def schema(self, refs: Refs) -> JsonObject:
        return {"type": "array", "items": self._item.schema(refs)}

    def child(self, step: Step) -> Shape | None:
        return self._item if isinstance(step, int) else None


class Dictionary(Shape):
    """A dict from text to one type."""

    kinds = frozenset({"object"})

    def __init__(self, item: Shape) -> None:
        self.name = "dict"
        self._item = item

    def owns(self, value: object) -> bool:
        return type(value) is dict

    def dump(self, value: Any) -> Json:
        if type(value) is not dict:
            raise wrong(self.name, value)
        return {_key(key): self._under(key, self._item.dump, item) for key, item in value.items()}

    def load(self, value: Json) -> Any:
        if not isinstance(value, dict):
            raise wrong_json("object", value)
        return {key: self._under(key, self._item.load, item) for key, item in value.items()}

    def _under(self, key: str, convert: Any, value: Any) -> Any:
        try:
            return convert(value)
        except NotConvertible as problem:
            raise problem.under(key) from None

    def schema(self, refs: Refs) -> JsonObject:
        return {"type": "object", "additionalProperties": self._item.schema(refs)}

    def child(self, step: Step) -> Shape | None:
        return self._item if isinstance(step, str) else None


class Tuple(Shape):
    """A tuple: of fixed parts, or of any number of one type."""

    kinds = frozenset({"array"})

    def __init__(self, parts: tuple[Shape, ...] | None, rest: Shape | None = None) -> None:
        self.name = "tuple"
        self._parts = parts
        self._rest = rest

    def owns(self, value: object) -> bool:
        return type(value) is tuple

    def dump(self, value: Any) -> Json:
        if type(value) is not tuple:
            raise wrong(self.name, value)
        return self._each(value, "dump")

    def load(self, value: Json) -> Any:
        if not isinstance(value, list):
            raise wrong_json("array", value)
        return tuple(self._each(value, "load"))

    def _each(self, values: list[Any] | tuple[Any, ...], way: str) -> list[Any]:
        if self._parts is not None and len(values) != len(self._parts):
            raise NotConvertible(f"expected {len(self._parts)} items, found {len(values)}")
        done: list[Any] = []
        try:
            for index, value in enumerate(values):
                part = self.child(index)
                assert part is not None
                done.append(getattr(part, way)(value))
        except NotConvertible as problem:
            raise problem.under(len(done)) from None
        return done

    def schema(self, refs: Refs) -> JsonObject:
        if self._rest is not None:
            return {"type": "array", "items": self._rest.schema(refs)}
        parts = self._parts or ()
        return {
            "type": "array",
            "prefixItems": [part.schema(refs) for part in parts],
            "minItems": len(parts),
            "maxItems": len(parts),
        }

    def child(self, step: Step) -> Shape | None:
        if not isinstance(step, int):
            return None
        if self._parts is None:
            return self._rest
        return self._parts[step] if step < len(self._parts) else None


class Union(Shape):
    """One of several types that their JSON tells apart: by its type, by a fixed value, or by an object's fields."""

    def __init__(self, name: str, options: tuple[Shape, ...]) -> None:
        self.name = name
        self._options = options
        self.kinds = frozenset[str]().union(*(option.kinds for option in options))

    def require_unambiguous(self) -> None:
        """Refuse two options that one JSON value could mean.

        Raises:
            Unstorable: When there are such two, naming both.
        """
        for index, one in enumerate(self._options):
            for other in self._options[:index]:
                if one.kinds & other.kinds and not _told_apart(one, other):
                    raise Unstorable(
                        f"{other.name} and {one.name} look the same in JSON",
                        "Give both classes a Literal field with different values, or wrap one of them in a class.",
                    )

    def owns(self, value: object) -> bool:
        return any(option.owns(value) for option in self._options)

    def dump(self, value: Any) -> Json:
        exact = [option for option in self._options if option.owns(value)]
        if not exact:
            raise wrong(self.name, value)
        if len(exact) > 1 and isinstance(value, dict):  # typed dictionaries: told apart by what is in them
            return (self._pick(value) or exact[0]).dump(value)
        return exact[0].dump(value)

    def load(self, value: Json) -> Any:
        option = self._pick(value)
        if option is None:
            raise NotConvertible(f"{kind_of(value)} fits none of {self.name}")
        return option.load(value)

    def _pick(self, value: Json) -> Shape | None:
        kind = kind_of(value)
        fitting = [option for option in self._options if kind in option.kinds]
        if not fitting and kind in ("integer", "number"):
            fitting = [option for option in self._options if option.kinds & {"integer", "number"}]
        if len(fitting) <= 1:
            return fitting[0] if fitting else None
        if isinstance(value, dict):
            exact = next((option for option in fitting if _fits(option, value)), None)
            return exact or max(fitting, key=lambda option: _likeness(option, value))
        return next((o for o in fitting if (v := o.finite()) is None or any(_same(value, known) for known in v)), None)

    def schema(self, refs: Refs) -> JsonObject:
        return {"anyOf": [option.schema(refs) for option in self._options]}

    def child(self, step: Step) -> Shape | None:
        children = [child for option in self._options if (child := option.child(step)) is not None]
        return children[0] if len(children) == 1 else _either(children)

    def finite(self) -> tuple[Json, ...] | None:
        values: list[Json] = []
        for option in self._options:
            known = option.finite()
            if known is None:
                return None
            values.extend(known)
        return tuple(values)


def _either(children: list[Shape]) -> Shape | None:
    """What the same field of several classes can be."""
    return Union(" | ".join(dict.fromkeys(child.name for child in children)), tuple(children)) if children else None


def _same(one: Json, other: Json) -> bool:
    return kind_of(one) == kind_of(other) and one == other


def _told_apart(one: Shape, other: Shape) -> bool:
    if one.fields is not None and other.fields is not None:
        return _tag(one, other) is not None or not _share_an_object(one.fields, other.fields)
    here, there = one.finite(), other.finite()
    if here is None or there is None:
        return False
    return not any(_same(a, b) for a in here for b in there)


def _tag(one: Shape, other: Shape) -> str | None:
    """A required field whose fixed values differ between two classes."""
    mine, theirs = one.fields or {}, other.fields or {}
    for name, required in mine.items():
        if not required or not theirs.get(name, False):
            continue
        here, there = (shape.child(name) for shape in (one, other))
        if here is not None and there is not None and here.finite() and there.finite() and _told_apart(here, there):
            return name
    return None


def _share_an_object(one: Any, other: Any) -> bool:
    """Whether one object could be both: the required fields of each are fields of the other."""
    return all(name in other for name, required in one.items() if required) and all(
        name in one for name, required in other.items() if required
    )


def _likeness(option: Shape, value: dict[str, Json]) -> int:
    """How much an object looks like a class: whose complaint is the helpful one when it fits none."""
    children = {name: option.child(name) for name in value}
    known = {name: child.finite() for name, child in children.items() if child is not None}
    return sum(1 if each is None else 5 * any(_same(value[name], v) for v in each) for name, each in known.items())


def _fits(option: Shape, value: dict[str, Json]) -> bool:
    """Whether an object can be this class: no unknown field, none missing, fixed values as they must be."""
    fields = option.fields
    if fields is None:
        return True
    if not all(name in fields for name in value) or not all(name in value for name, need in fields.items() if need):
        return False
    for name, item in value.items():
        child = option.child(name)
        known = child.finite() if child is not None else None
        if known is not None and not any(_same(item, each) for each in known):
            return False
    return True
