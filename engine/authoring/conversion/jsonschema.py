"""A JSON Schema as a shape: the small part of it that agents' contracts use, and no more.

Written here because the libraries for all of JSON Schema cost more start-up time than everything else together; a
keyword that is not known is refused when the workflow is checked, never ignored.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from runwright.engine.authoring.conversion.containers import PLAIN, copied
from runwright.engine.authoring.conversion.shape import NotConvertible, Refs, Shape, Unstorable, kind_of
from runwright.engine.authoring.jsonpath import Step
from runwright.eventstore.values import Json, JsonObject

_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_NOTES = frozenset({"$schema", "$id", "$comment", "title", "description", "default", "examples", "format", "$defs"})
_KNOWN = _NOTES | {
    "type", "enum", "const", "properties", "required", "additionalProperties", "items", "prefixItems", "anyOf",
    "minItems", "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "minProperties", "maxProperties", "uniqueItems", "$ref",
}  # fmt: skip

_BOUNDS: dict[str, tuple[str, Callable[[Any], float], Callable[[float, float], bool], str]] = {
    "minItems": ("array", len, lambda size, bound: size >= bound, "at least {} items"),
    "maxItems": ("array", len, lambda size, bound: size <= bound, "at most {} items"),
    "minLength": ("string", len, lambda size, bound: size >= bound, "at least {} characters"),
    "maxLength": ("string", len, lambda size, bound: size <= bound, "at most {} characters"),
    "minProperties": ("object", len, lambda size, bound: size >= bound, "at least {} fields"),
    "maxProperties": ("object", len, lambda size, bound: size <= bound, "at most {} fields"),
    "minimum": ("number", lambda value: value, lambda value, bound: value >= bound, "a number of at least {}"),
    "maximum": ("number", lambda value: value, lambda value, bound: value <= bound, "a number of at most {}"),
    "exclusiveMinimum": ("number", lambda value: value, lambda value, bound: value > bound, "a number over {}"),
    "exclusiveMaximum": ("number", lambda value: value, lambda value, bound: value < bound, "a number under {}"),
}


class Described(Shape):
    """What a JSON Schema describes; the value stays plain JSON."""

    name = "JSON value of the schema"

    def __init__(self, schema: Mapping[str, Json], root: "Described | None" = None) -> None:
        """Read a schema.

        Raises:
            Unstorable: When it uses a keyword that is not known here, or says a known one wrongly.
        """
        if not isinstance(schema, Mapping) or not all(isinstance(key, str) for key in schema):
            raise Unstorable("The schema is no JSON object", 'Write a dict, as in `{"type": "string"}`')
        self._schema = dict(schema)
        self._root = root or self
        types = self._schema.get("type", sorted(_TYPES))
        self._types = frozenset(str(each) for each in (types if isinstance(types, list) else [types]))
        self.kinds = self._types
        self._require_known()
        self._parts = {
            key: {name: self._part(part, name) for name, part in _object(self._schema.get(key, {}), key).items()}
            for key in ("properties", "$defs")
        }
        self._items = self._part(self._schema["items"], "items") if "items" in self._schema else None
        self._prefix = [self._part(part, "prefixItems") for part in _array(self._schema, "prefixItems")]
        self._options = [self._part(part, "anyOf") for part in _array(self._schema, "anyOf")]
        extra = self._schema.get("additionalProperties", True)
        self._extra = None if extra is False else PLAIN if extra is True else self._part(extra, "additionalProperties")

    def _require_known(self) -> None:
        unknown = sorted((set(self._schema) - _KNOWN) | {f"type {each}" for each in self._types - _TYPES})
        if unknown:
            raise Unstorable(
                f"The schema uses {', '.join(unknown)}, which Runwright does not check",
                "Leave it out, or use returns= with a class and validate= for further rules",
            )
        pattern = self._schema.get("pattern")
        if pattern is not None:
            try:
                re.compile(str(pattern))
            except re.error:
                raise Unstorable("A pattern of the schema is no regular expression", "Mend it") from None

    def _part(self, part: Json, where: str) -> "Described":
        return Described(_object(part, where), self._root)

    def _target(self) -> "Described":
        reference = self._schema.get("$ref")
        if reference is None:
            return self
        if reference == "#":
            return self._root
        try:
            return self._root._parts["$defs"][str(reference).removeprefix("#/$defs/")]
        except KeyError:
            raise NotConvertible("the schema refers to a definition that it does not have") from None

    def owns(self, value: object) -> bool:
        return PLAIN.owns(value)

    def dump(self, value: Any) -> Json:
        return copied(self.load(copied(value)))

    def load(self, value: Json) -> Any:
        target = self._target()
        if target is not self:
            return target.load(value)
        self._require_type(value)
        self._require_fixed(value)
        self._require_bounds(value)
        if isinstance(value, dict):
            self._require_fields(value)
        if isinstance(value, list):
            self._require_items(value)
        if self._options:
            self._require_option(value)
        return copied(value)

    def _require_type(self, value: Json) -> None:
        kind = kind_of(value)
        whole = isinstance(value, float) and value.is_integer()
        if kind in self._types or ("number" in self._types and kind == "integer"):
            return
        if not ("integer" in self._types and whole):
            raise NotConvertible(f"expected {' or '.join(sorted(self._types))}, found {kind}")

    def _require_fixed(self, value: Json) -> None:
        if "const" in self._schema and not _equal(value, self._schema["const"]):
            raise NotConvertible("the value is not the one that the schema fixes")
        if "enum" in self._schema and not any(_equal(value, each) for each in _array(self._schema, "enum")):
            known = ", ".join(str(each) for each in _array(self._schema, "enum"))
            raise NotConvertible(f"the value is none of {known}")

    def _require_bounds(self, value: Json) -> None:
        kind = "number" if kind_of(value) == "integer" else kind_of(value)
        for keyword, (of, measure, holds, text) in _BOUNDS.items():
            bound = self._schema.get(keyword)
            if kind == of and isinstance(bound, int | float) and not holds(measure(value), bound):
                raise NotConvertible(f"expected {text.format(bound)}")
        pattern = self._schema.get("pattern")
        if isinstance(value, str) and pattern is not None and not re.search(str(pattern), value):
            raise NotConvertible("the text does not match the schema's pattern")

    def _require_fields(self, value: dict[str, Json]) -> None:
        for name in _array(self._schema, "required"):
            if name not in value:
                raise NotConvertible("the field is missing").under(str(name))
        for name, item in value.items():
            shape = self._parts["properties"].get(name) or self._extra
            if shape is None:
                raise NotConvertible("the schema has no such field").under(name)
            try:
                shape.load(item)
            except NotConvertible as problem:
                raise problem.under(name) from None

    def _require_items(self, value: list[Json]) -> None:
        for index, item in enumerate(value):
            shape = self._prefix[index] if index < len(self._prefix) else self._items
            try:
                if shape is not None:
                    shape.load(item)
            except NotConvertible as problem:
                raise problem.under(index) from None
        if self._schema.get("uniqueItems") is True:
            for index, item in enumerate(value):
                if any(_equal(item, other) for other in value[:index]):
                    raise NotConvertible("the item is there twice").under(index)

    def _require_option(self, value: Json) -> None:
        problems: list[NotConvertible] = []
        for option in self._options:
            try:
                option.load(value)
                return
            except NotConvertible as problem:
                problems.append(problem)
        raise problems[0] if len(problems) == 1 else NotConvertible("the value fits none of the schema's options")

    def schema(self, refs: Refs) -> JsonObject:
        return {key: copied(value) for key, value in self._schema.items()}

    def child(self, step: Step) -> Shape | None:
        target = self._target()
        if target._options:
            return PLAIN
        if isinstance(step, int):
            if "array" not in target._types:
                return None
            return target._prefix[step] if step < len(target._prefix) else target._items or PLAIN
        if "object" not in target._types:
            return None
        return target._parts["properties"].get(step) or target._extra

    def finite(self) -> tuple[Json, ...] | None:
        target = self._target()
        if "const" in target._schema:
            return (target._schema["const"],)
        if "enum" in target._schema:
            return tuple(_array(target._schema, "enum"))
        return (True, False) if target._types == {"boolean"} else None

    @property
    def fields(self) -> Mapping[str, bool] | None:
        target = self._target()
        required = _array(target._schema, "required")
        return {name: name in required for name in target._parts["properties"]} or None


def _equal(one: Json, other: Json) -> bool:
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    return one == other


def _object(value: Json, where: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise Unstorable(f"The schema's {where!r} is no object", "Write a JSON Schema as a dict")
    return value


def _array(schema: Mapping[str, Json], key: str) -> list[Json]:
    value = schema.get(key, [])
    if not isinstance(value, list):
        raise Unstorable(f"The schema's {key!r} is no list", "Write a list")
    return value
