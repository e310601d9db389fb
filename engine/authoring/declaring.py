"""How nodes are declared: one decorator per kind, each with its own options and types."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, overload

from runwright.engine.authoring.declaration import DEFAULT_TIMEOUT, TAKES, Declaration
from runwright.engine.authoring.decorators import (
    Acting,
    Computing,
    Deciding,
    Prompting,
    Running,
    Stopping,
    Waiting,
)
from runwright.engine.authoring.nodes import Node
from runwright.engine.authoring.origin import calling_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import timedelta

    from typing_extensions import TypeForm

    from runwright.engine.authoring.context import Context
    from runwright.engine.authoring.declaration import NodeKind
    from runwright.engine.authoring.decorators import Argv, Pause, Text
    from runwright.engine.authoring.observations import Observation, Recovery
    from runwright.engine.authoring.questions import Choice
    from runwright.engine.authoring.shell import Command, ShellResult
    from runwright.engine.authoring.times import Retry
    from runwright.eventstore.values import Json

    Errors: TypeAlias = Sequence[type[BaseException]]
    #: Seconds, a timedelta, ``None`` for none, or a function of the context.
    Timeout: TypeAlias = float | timedelta | Callable[[Context["I"]], float | timedelta | None] | None

I = TypeVar("I")  # noqa: E741 (the name of the input's type everywhere in the public surface)
Q = TypeVar("Q")
T = TypeVar("T")

_WORK = {"timeout": DEFAULT_TIMEOUT}


class Declaring(Generic[I]):
    """The decorators of a workflow. All take ``name=`` (default: the function's) and ``label=`` (shown in views).

    Work nodes also take ``timeout=`` (default 15 minutes) and ``retry=``.
    """

    name: str

    def __init__(self) -> None:
        self.nodes: list[Node[..., Any, Any]] = []

    @overload
    def agent(self, function: Callable[[Context[I]], Text], /) -> Node[[Context[I]], Text, Json]: ...
    @overload
    def agent(
        self,
        *,
        returns: TypeForm[T],
        by: str = "default",
        validate: Callable[[Context[I], T], None] | None = None,
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Prompting[I, T]: ...
    @overload
    def agent(
        self,
        *,
        schema: Mapping[str, Json] | None = None,
        by: str = "default",
        validate: Callable[[Context[I], Json], None] | None = None,
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Prompting[I, Json]: ...
    def agent(self, *function: Any, **options: Any) -> Any:
        """Ask an agent; the function returns the prompt.

        Args:
            function: The function, where the decorator stands without parentheses.
            options: ``returns``: the type of the answer. ``schema``: a JSON Schema of it instead of a type. ``by``:
                the executor that answers where no session does. ``validate``: called with context and answer,
                refuses it by raising, with what to correct as the message. ``name``, ``label``, ``timeout``, ``retry``.
        """
        return self._node(Prompting, "agent", function, {"returns": Any, "by": "default", **_WORK, **options})

    def choose(
        self,
        *,
        choices: Sequence[str],
        by: str = "default",
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Prompting[I, str]:
        """Ask an agent for one of a few choices; the function returns the prompt, every choice has to be routed."""
        options: dict[str, Any] = {"choices": choices, "by": by, "label": label, "timeout": timeout, "retry": retry}
        return Prompting(self._declaring("choose", name, options))

    @overload
    def assistant(self, function: Callable[[Context[I]], Text], /) -> Node[[Context[I]], Text, str]: ...
    @overload
    def assistant(
        self,
        *,
        max_chars: int = 8000,
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Prompting[I, str]: ...
    def assistant(self, *function: Any, **options: Any) -> Any:
        """Take the session's next visible answer, up to ``max_chars``; the function returns the prompt."""
        return self._node(Prompting, "assistant", function, {"max_chars": 8000, **_WORK, **options})

    @overload
    def compute(self, function: Callable[[Context[I]], Awaitable[T]], /) -> Node[[Context[I]], Awaitable[T], T]: ...
    @overload
    def compute(self, function: Callable[[Context[I]], T], /) -> Node[[Context[I]], T, T]: ...
    @overload
    def compute(
        self,
        *,
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Computing[I]: ...
    def compute(self, *function: Any, **options: Any) -> Any:
        """Work out a value: pure, and may run again after a crash. The output is what the function returns."""
        return self._node(Computing, "compute", function, {**_WORK, **options})

    @overload
    def action(self, function: Callable[[Context[I]], Awaitable[T]], /) -> Node[[Context[I]], Awaitable[T], T]: ...
    @overload
    def action(self, function: Callable[[Context[I]], T], /) -> Node[[Context[I]], T, T]: ...
    @overload
    def action(
        self,
        *,
        request: Callable[[Context[I]], Q],
        observe: Callable[[Context[I], Q], Observation[Any] | Awaitable[Observation[Any]]],
        effect: str = "",
        certain: Errors = (),
        uncertain: Errors = (),
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Acting[I, Q]: ...
    @overload
    def action(
        self,
        *,
        request: Callable[[Context[I]], Q],
        recovery: Recovery = "manual",
        effect: str = "",
        certain: Errors = (),
        uncertain: Errors = (),
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Acting[I, Q]: ...
    @overload
    def action(
        self,
        *,
        recovery: Recovery = "manual",
        effect: str = "",
        certain: Errors = (),
        uncertain: Errors = (),
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Computing[I]: ...
    def action(self, *function: Any, **options: Any) -> Any:
        """Change the world outside: a managed effect, recorded before it is tried and settled after.

        Args:
            function: The function, where the decorator stands without parentheses.
            options: ``request``: works out once per visit what is asked; saved, and handed to every try and to
                ``observe``. ``recovery``: what holds after an uncertain end, ``manual`` (a person decides) or
                ``idempotent``; or instead ``observe``: looks whether it happened. ``effect``: the effect type, by
                default the node's name. ``certain``: exceptions that mean it surely did not happen; ``uncertain``:
                further ones that mean it may have. ``name``, ``label``, ``timeout``, ``retry``.
        """
        decorator = Acting if options.get("request") else Computing
        return self._node(decorator, "action", function, {**_WORK, **options})

    @overload
    def shell(self, function: Callable[[Context[I]], Argv], /) -> Node[[Context[I]], Argv, ShellResult]: ...
    @overload
    def shell(
        self,
        *,
        parse: Callable[[ShellResult], T],
        recovery: Recovery = "manual",
        observe: Callable[[Context[I], Command], Observation[Any] | Awaitable[Observation[Any]]] | None = None,
        certain: Errors = (),
        uncertain: Errors = (),
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Running[I, T]: ...
    @overload
    def shell(
        self,
        *,
        recovery: Recovery = "manual",
        observe: Callable[[Context[I], Command], Observation[Any] | Awaitable[Observation[Any]]] | None = None,
        certain: Errors = (),
        uncertain: Errors = (),
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
        retry: Retry | None = None,
    ) -> Running[I, ShellResult]: ...
    def shell(self, *function: Any, **options: Any) -> Any:
        """Run a program: a managed effect. The function returns its arguments, or a `Command`.

        Args:
            function: The function, where the decorator stands without parentheses.
            options: ``parse``: turns the `ShellResult` into the output. The rest as for `action`.
        """
        return self._node(Running, "shell", function, {**_WORK, **options})

    @overload
    def notify(self, function: Callable[[Context[I]], Text], /) -> Node[[Context[I]], Text, None]: ...
    @overload
    def notify(
        self,
        *,
        kind: Literal["interim", "final"] = "interim",
        name: str = "",
        label: str = "",
        timeout: Timeout[I] = DEFAULT_TIMEOUT,
    ) -> Prompting[I, None]: ...
    def notify(self, *function: Any, **options: Any) -> Any:
        """Tell the origin session something, without starting a turn; the function returns the text."""
        return self._node(Prompting, "notify", function, {"kind": "interim", **_WORK, **options})

    def decision(
        self,
        *,
        choices: Sequence[str | Choice],
        audience: str = "operator",
        deadline: timedelta | None = None,
        on_timeout: str | None = None,
        name: str = "",
        label: str = "",
    ) -> Deciding[I]:
        """Ask a person, and only a person; the function returns the question.

        Args:
            choices: What can be answered.
            audience: Who is asked.
            deadline: How long an answer may take.
            on_timeout: The choice that is made when nobody answered in time.
            name: The node's name.
            label: What views show.
        """
        options: dict[str, Any] = {
            "choices": choices,
            "label": label,
            "audience": audience,
            "deadline": deadline,
            "on_timeout": on_timeout,
        }
        return Deciding(self._declaring("decision", name, options))

    @overload
    def checkpoint(
        self, *, summary: str, returns: TypeForm[T], protected: bool = False, name: str = "", label: str = ""
    ) -> Stopping[I, T]: ...
    @overload
    def checkpoint(
        self, *, summary: str, protected: bool = False, name: str = "", label: str = ""
    ) -> Stopping[I, Json]: ...
    def checkpoint(self, **options: Any) -> Any:
        """Stop here; the accepted answer carries on in a child run.

        Args:
            options: ``summary``: what it is about. ``returns``: the type of the answer. ``protected``: accept only
                a person's decision. ``name`` and ``label``.
        """
        return self._node(Stopping, "checkpoint", (), {"returns": Any, **options})

    @overload
    def wait(self, function: Callable[[Context[I]], Pause], /) -> Node[[Context[I]], Pause, None]: ...
    @overload
    def wait(self, name: str, after: timedelta, /, *, label: str = "") -> Node[[], None, None]: ...
    @overload
    def wait(self, *, name: str = "", label: str = "") -> Waiting[I]: ...
    def wait(self, *function: Any, **options: Any) -> Any:
        """Wait durably: no worker, no claim; the function returns how long, or until when.

        Args:
            function: The function, where the decorator stands without parentheses; or name and time of a fixed wait.
            options: ``name`` and ``label``.
        """
        if len(function) == 2:
            name, after = function
            return self._declaring("wait", name, options, after=after)(None)
        return self._node(Waiting, "wait", function, options)

    def _node(self, decorator: Any, kind: NodeKind, function: tuple[Any, ...], options: dict[str, Any]) -> Any:
        ready = decorator(self._declaring(kind, options.pop("name", ""), options))
        return ready(*function) if function else ready

    def _declaring(
        self, kind: NodeKind, name: str, options: dict[str, Any], *, after: Any = None
    ) -> Callable[[Any], Node[..., Any, Any]]:
        taken = {each: value for each, value in options.items() if each in TAKES[kind]}
        taken["stray"] = tuple(sorted(options.keys() - taken.keys()))
        if "kind" in taken:
            taken["notice"] = taken.pop("kind")

        def declare(function: Any) -> Node[..., Any, Any]:
            own = name or getattr(function, "__name__", "") or getattr(function, "name", "")
            declaration = Declaration(
                kind=kind, name=own, function=function, origin=calling_line(), after=after, **taken
            )
            node: Node[..., Any, Any] = Node(declaration, self.name)
            self.nodes.append(node)
            return node

        return declare
