"""The shapes of classes with named fields: attrs, dataclasses, typed dictionaries, and pydantic's models."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from runwright.engine.authoring.conversion.containers import Plain
from runwright.engine.authoring.conversion.shape import NotConvertible, Refs, Shape, wrong, wrong_json
from runwright.engine.authoring.jsonpath import Step
from runwright.eventstore.values import Json, JsonObject

UNSET: Any = object()


@frozen(eq=False)
class Member:
    """One field of a class.

    Attributes:
        attribute: What it is called on the object.
        key: What it is called in JSON and by the constructor.
        shape: Its type.
        required: Whether it has no default.
        default: The default, where it is a fixed value.
    """

    attribute: str
    key: str
    shape: Shape
    required: bool
    default: Any = UNSET


class Fields(Shape):
    """What attrs classes, dataclasses and typed dictionaries share: named members, no others."""

    kinds = frozenset({"object"})

    def __init__(self, of: type) -> None:
        self.name = of.__name__
        self._of = of
        self._members: dict[str, Member] = {}

    def define(self, members: list[Member]) -> None:
        """Give the members; apart from the constructor, because a class may contain itself."""
        self._members = {member.key: member for member in members}

    def with_member(self, key: str, shape: Shape) -> "Fields":
        """The same class with a narrower type for one member."""
        narrowed = type(self)(self._of)
        member = self._members[key]
        changed = Member(member.attribute, key, shape, member.required, member.default)
        narrowed.define([changed if each is member else each for each in self._members.values()])
        return narrowed

    def load(self, value: Json) -> Any:
        if not isinstance(value, dict):
            raise wrong_json("object", value)
        for key in value:
            if key not in self._members:
                known = ", ".join(self._members) or "none"
                raise NotConvertible(f"{self.name} has no such field", f"its fields: {known}").under(key)
        arguments: dict[str, Any] = {}
        for key, member in self._members.items():
            if key in value:
                arguments[key] = _under(key, member.shape.load, value[key])
            elif member.required:
                raise NotConvertible("the field is missing").under(key)
        return self._make(arguments)

    def _make(self, arguments: dict[str, Any]) -> Any:
        try:
            return self._of(**arguments)
        except Exception as refusal:  # noqa: BLE001 (a constructor of the user's own may raise anything)
            problem = f"{self.name} refused the value ({type(refusal).__name__})"
            raise NotConvertible(problem, detail=_text(refusal)) from None

    def schema(self, refs: Refs) -> JsonObject:
        if self in refs.open:
            return {"$ref": f"#/$defs/{refs.recursive.setdefault(self, refs.free(self.name))}"}
        refs.open.append(self)
        document = self._document(refs)
        refs.open.pop()
        if self not in refs.recursive:
            return document
        refs.definitions[refs.recursive[self]] = document
        return {"$ref": f"#/$defs/{refs.recursive[self]}"}

    def _document(self, refs: Refs) -> JsonObject:
        properties: JsonObject = {key: self._property(member, refs) for key, member in self._members.items()}
        required: list[Json] = [key for key, member in self._members.items() if member.required]
        document: JsonObject = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            document["required"] = required
        return document

    def _property(self, member: Member, refs: Refs) -> JsonObject:
        schema = member.shape.schema(refs)
        if member.default is not UNSET:
            try:
                schema = {**schema, "default": member.shape.dump(member.default)}
            except NotConvertible:
                return schema  # a default that is not of the declared type cannot be described
        return schema

    def child(self, step: Step) -> Shape | None:
        member = self._members.get(step) if isinstance(step, str) else None
        return member.shape if member is not None else None

    @property
    def fields(self) -> Mapping[str, bool]:
        return {key: member.required for key, member in self._members.items()}


class Class(Fields):
    """An attrs class or a dataclass."""

    def owns(self, value: object) -> bool:
        return type(value) is self._of

    def dump(self, value: Any) -> Json:
        if type(value) is not self._of:
            raise wrong(self.name, value)
        return {
            key: _under(key, member.shape.dump, getattr(value, member.attribute))
            for key, member in self._members.items()
        }


class Typed(Fields):
    """A TypedDict."""

    def owns(self, value: object) -> bool:
        return type(value) is dict

    def dump(self, value: Any) -> Json:
        if type(value) is not dict:
            raise wrong("dict", value)
        for key in value:
            if key not in self._members:
                raise NotConvertible(f"{self.name} has no such field").under(str(key))
        for key, member in self._members.items():
            if member.required and key not in value:
                raise NotConvertible("the field is missing").under(key)
        return {key: _under(key, self._members[key].shape.dump, item) for key, item in value.items()}

    def _make(self, arguments: dict[str, Any]) -> Any:
        return arguments


class Model(Shape):
    """A pydantic model, which knows all this itself."""

    kinds = frozenset({"object"})

    def __init__(self, of: Any) -> None:
        self.name = of.__name__
        self._of = of

    def owns(self, value: object) -> bool:
        return type(value) is self._of

    def dump(self, value: Any) -> Json:
        if type(value) is not self._of:
            raise wrong(self.name, value)
        return Plain().dump(value.model_dump(mode="json", by_alias=True))

    def load(self, value: Json) -> Any:
        try:
            return self._of.model_validate_json(json.dumps(value))
        except ValueError as refusal:
            raise self._translated(refusal) from None

    def _translated(self, refusal: Any) -> NotConvertible:
        first = refusal.errors(include_url=False, include_input=False, include_context=False)[0]
        problem = NotConvertible(f"{self.name} refused the value ({first['type']})", detail=str(first["msg"])[:1000])
        for step in reversed(first["loc"]):
            problem.under(step)
        return problem

    def schema(self, refs: Refs) -> JsonObject:
        document: JsonObject = self._of.model_json_schema()
        definitions = document.pop("$defs", {})
        assert isinstance(definitions, dict)
        refs.definitions.update(definitions)
        return document

    def child(self, step: Step) -> Shape | None:
        return Plain() if step in (self.fields) else None

    @property
    def fields(self) -> Mapping[str, bool]:
        return {field.alias or name: field.is_required() for name, field in self._of.model_fields.items()}


def _text(refusal: Exception) -> str:
    try:
        return str(refusal)[:1000]
    except Exception:  # noqa: BLE001 (an exception of the user's own may fail to say anything)
        return ""


def _under(key: str, convert: Callable[[Any], Any], value: Any) -> Any:
    try:
        return convert(value)
    except NotConvertible as problem:
        raise problem.under(key) from None
