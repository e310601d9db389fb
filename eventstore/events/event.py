"""What an event class is: a frozen fact, with the system's part and the people's part kept apart."""

from typing import Any, ClassVar, TypeVar, cast

from attrs import field, fields, frozen

from runwright.eventstore.values import Json

#: Marks a field that stands in an event's erasable ``body`` and not in its ``data``.
_PRIVATE = "runwright.private"

JSON = "application/json"
TEXT = "text/plain"


@frozen
class Content:
    """A private value with its media type, so that every reader can ask for the type it declares.

    Attributes:
        media: ``application/json`` or ``text/plain``.
        value: The value; a ``str`` for text.
    """

    media: str
    value: Json

    @classmethod
    def json(cls, value: Json) -> "Content":
        """Wrap a JSON value."""
        return cls(JSON, value)

    @classmethod
    def text(cls, value: str) -> "Content":
        """Wrap plain text."""
        return cls(TEXT, value)


def private() -> Any:
    """Declare a body field: a `Content` or ``None`` when the event has none, or it was erased."""
    return field(default=None, metadata={_PRIVATE: True})


class Event:
    """The parent of every event class; `recorded` gives each its stored name."""

    __slots__ = ()

    type: ClassVar[str]


E_ = TypeVar("E_", bound=type[Event])

_registry: dict[str, type[Event]] = {}


def recorded(name: str) -> Any:
    """Register an event class under the constant name that the log stores, never a Python path."""

    def register(cls: E_) -> E_:
        if name in _registry:
            raise TypeError(f"two event classes are named {name}")
        cls.type = name
        _registry[name] = cls
        return cls

    return register


def body_fields(cls: type[Event]) -> frozenset[str]:
    """Name the fields of an event class that stand in its body."""
    return frozenset(each.name for each in fields(cast(Any, cls)) if each.metadata.get(_PRIVATE))


def registered() -> dict[str, type[Event]]:
    """Answer a copy of the registry; `runwright.eventstore.events.registry` fills it."""
    return dict(_registry)


@frozen(kw_only=True)
class ProcessIdentity:
    """A process named so exactly that a reused process ID is never taken for it.

    Attributes:
        boot: The boot ID of the machine.
        namespace: The pid namespace.
        pid: The process ID.
        start: The start time in clock ticks since boot.
    """

    boot: str
    namespace: str
    pid: int
    start: int
