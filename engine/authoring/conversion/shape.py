"""A shape: one declared type, how it becomes JSON and back, and what can be known of it beforehand."""

from collections.abc import Mapping
from itertools import count
from typing import Any, TypeAlias

from runwright.engine.authoring.jsonpath import Step, write
from runwright.eventstore.values import Json, JsonObject

#: The JSON types; ``integer`` stands apart from ``number`` as in JSON Schema.
Kinds: TypeAlias = frozenset[str]


class NotConvertible(ValueError):
    """A value is not what its declared type says.

    The message names path, types and fix, and never the value itself.

    Attributes:
        problem: What is wrong, without the path.
        fix: What to do about it; may be empty.
        detail: What a class of the user's own said; private, for who gave the value.
    """

    def __init__(self, problem: str, fix: str = "", detail: str = "") -> None:
        self._steps: list[Step] = []
        self.problem = problem
        self.fix = fix
        self.detail = detail
        super().__init__(problem)

    def under(self, step: Step) -> "NotConvertible":
        """The same problem, seen from one level further out."""
        self._steps.insert(0, step)
        return self

    @property
    def path(self) -> str:
        """Where in the value it is, ``$.a[1].b``."""
        return write(self._steps)

    def __str__(self) -> str:
        """Path, problem and fix as one line."""
        return f"{self.path}: {self.problem}" + (f"; {self.fix}" if self.fix else "")


class Unstorable(TypeError):
    """A type that cannot be stored.

    Attributes:
        problem: Why.
        fix: What to write instead.
    """

    def __init__(self, problem: str, fix: str) -> None:
        self.problem = problem
        self.fix = fix
        super().__init__(f"{problem}. {fix}")


class Refs:
    """What a JSON Schema needs to know while it is built: which classes are open, which refer to themselves."""

    def __init__(self) -> None:
        self.open: list[Shape] = []
        self.recursive: dict[Shape, str] = {}
        self.definitions: JsonObject = {}

    def free(self, name: str) -> str:
        """A name for a definition that no other class has."""
        taken = set(self.recursive.values())
        return next(each for number in count(1) if (each := name if number == 1 else f"{name}{number}") not in taken)


class Shape:
    """One declared type.

    Attributes:
        name: How messages call it.
        kinds: The JSON types that its values can have.
    """

    name: str
    kinds: Kinds

    def owns(self, value: object) -> bool:
        """Whether a Python value is of this type at its top level."""
        raise wrong(self.name, value)

    def dump(self, value: Any) -> Json:
        """Turn a value into JSON.

        Raises:
            NotConvertible: When it is not of this type, naming the path.
        """
        raise wrong(self.name, value)

    def load(self, value: Json) -> Any:
        """Rebuild a value from JSON.

        Raises:
            NotConvertible: When the JSON is not of this type, naming the path.
        """
        raise wrong_json(self.name, value)

    def schema(self, refs: Refs) -> JsonObject:
        """The JSON Schema of the type."""
        raise NotConvertible(f"{self.name} has no schema")

    def child(self, step: Step) -> "Shape | None":
        """The shape one step further in; ``None`` where the type has no such part."""
        return None

    def finite(self) -> tuple[Json, ...] | None:
        """All JSON values of the type where they are few and known; else ``None``."""
        return None

    @property
    def fields(self) -> Mapping[str, bool] | None:
        """The named fields and whether each is required; ``None`` for what has none."""
        return None


def article(name: str) -> str:
    """A noun with its article."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def kind_of(value: Json) -> str:
    """The JSON type of a value, whole numbers told apart."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


_FIXES = {
    "set": "return a list, `sorted(…)` for a stable order",
    "frozenset": "return a list, `sorted(…)` for a stable order",
    "bytes": "return text, or write a file and return its Path",
    "bytearray": "return text, or write a file and return its Path",
    "tuple": "return a list, or annotate the function with the tuple's type",
    "generator": "return `list(…)` of it",
    "Counter": "return `dict(…)` of it",
    "defaultdict": "return `dict(…)` of it",
    "OrderedDict": "return `dict(…)` of it",
    "coroutine": "await it",
}


def wrong(expected: str, value: object) -> NotConvertible:
    """The problem that a Python value has another type than declared."""
    found = type(value).__name__
    return NotConvertible(f"expected {article(expected)}, found {article(found)}", _FIXES.get(found, ""))


def wrong_json(expected: str, value: Json) -> NotConvertible:
    """The problem that a JSON value has another type than declared."""
    kind = kind_of(value)
    return NotConvertible(f"expected {article(expected)}, found {kind if kind == 'null' else article(kind)}")
