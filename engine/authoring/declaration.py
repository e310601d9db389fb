"""What a decorator was told about one node, as it was told: checked and compiled later."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from runwright.engine.authoring.origin import Origin
from runwright.engine.authoring.values import Choice, Retry, minutes
from runwright.eventstore.values import Json

NodeKind: TypeAlias = Literal[
    "agent", "choose", "assistant", "compute", "action", "shell", "notify", "decision", "checkpoint", "wait"
]

#: The output's type is the function's own return annotation.
ANNOTATED: Any = type("ANNOTATED", (), {"__repr__": lambda _: "the return annotation"})()

DEFAULT_TIMEOUT = minutes(15)


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
    choices: tuple[Choice, ...] = ()
    validate: Callable[..., Any] | None = None
    request: Callable[..., Any] | None = None
    observe: Callable[..., Any] | None = None
    recovery: str | None = None
    effect: str | None = None
    parse: Callable[..., Any] | None = None
    certain: tuple[type[BaseException], ...] = field(default=(), converter=tuple)
    uncertain: tuple[type[BaseException], ...] = field(default=(), converter=tuple)
    notice: Literal["interim", "final"] | None = None
    audience: str | None = None
    deadline: timedelta | None = None
    on_timeout: str | None = None
    max_chars: int | None = None
    summary: str | None = None
    protected: bool = False
    after: timedelta | None = None
