"""What a decorator was told about one node, as it was told: checked and compiled later."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import field, frozen

from runwright.engine.authoring.times import minutes

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from runwright.engine.authoring.origin import Origin
    from runwright.engine.authoring.questions import Choice
    from runwright.engine.authoring.times import Retry
    from runwright.eventstore.values import Json

NodeKind: TypeAlias = Literal[
    "agent", "choose", "assistant", "compute", "action", "shell", "notify", "decision", "checkpoint", "wait"
]

#: The output's type is the function's own return annotation.
ANNOTATED: Any = type("ANNOTATED", (), {"__repr__": lambda _: "the return annotation"})()

DEFAULT_TIMEOUT = minutes(15)

_WORK = frozenset({"label", "timeout", "retry"})
_EFFECT = _WORK | {"recovery", "observe", "certain", "uncertain"}
#: The options that each kind takes, beside its name.
TAKES: Mapping[NodeKind, frozenset[str]] = {
    "agent": _WORK | {"returns", "schema", "by", "validate"},
    "choose": _WORK | {"choices", "by"},
    "assistant": _WORK | {"max_chars"},
    "compute": _WORK,
    "action": _EFFECT | {"request", "effect"},
    "shell": _EFFECT | {"parse"},
    "notify": frozenset({"label", "timeout", "kind"}),
    "decision": frozenset({"label", "choices", "audience", "deadline", "on_timeout"}),
    "checkpoint": frozenset({"label", "summary", "returns", "protected"}),
    "wait": frozenset({"label"}),
}


def listed(given: Any) -> Any:
    """Several things as a tuple, however they were listed; what lists nothing, or a text, stays for the check."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        return given
    return tuple(given)


@frozen(kw_only=True, eq=False)
class Declaration:
    """One node as it was written; `NodeSpec` has the meaning of what is not explained here.

    Attributes:
        function: The plain function; ``None`` for a fixed wait.
        returns: The output's declared type, or `ANNOTATED`.
        schema: A JSON Schema instead of a type.
        timeout: Seconds, a timedelta, ``None``, or a function of the context.
        validate: May refuse an agent's value by raising.
        request: Works out an effect's request from the context.
        observe: Looks whether an effect happened.
        parse: Turns a shell's result into the output.
        certain: Exceptions that mean: it surely did not happen.
        uncertain: Further exceptions that mean: it may have happened.
        after: A wait's fixed time.
        stray: The options that were given and that nodes of the kind do not take.
    """

    kind: NodeKind
    name: str
    origin: Origin
    function: Callable[..., Any] | None
    label: str = ""
    returns: Any = ANNOTATED
    schema: Mapping[str, Json] | None = None
    timeout: Any = None
    retry: Retry | None = None
    by: str | None = None
    choices: tuple[str | Choice, ...] = field(default=(), converter=listed)
    validate: Callable[..., Any] | None = None
    request: Callable[..., Any] | None = None
    observe: Callable[..., Any] | None = None
    recovery: str | None = None
    effect: str | None = None
    parse: Callable[..., Any] | None = None
    certain: tuple[type[BaseException], ...] = field(default=(), converter=listed)
    uncertain: tuple[type[BaseException], ...] = field(default=(), converter=listed)
    notice: Literal["interim", "final"] | None = None
    audience: str | None = None
    deadline: timedelta | None = None
    on_timeout: str | None = None
    max_chars: int | None = None
    summary: str | None = None
    protected: bool = False
    after: timedelta | None = None
    stray: tuple[str, ...] = ()

    @property
    def choice_names(self) -> tuple[str, ...]:
        """The names of the choices, however they were written."""
        given = self.choices if isinstance(self.choices, tuple) else ()
        names = [choice if isinstance(choice, str) else getattr(choice, "name", None) for choice in given]
        return tuple(name for name in names if isinstance(name, str))
