"""The decorators that a workflow hands out: each types one way of writing a node's function."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime, timedelta

    from runwright.engine.authoring.context import Context
    from runwright.engine.authoring.nodes import Node
    from runwright.engine.authoring.questions import Decided, Question
    from runwright.engine.authoring.shell import Command
    from runwright.eventstore.values import Json

I = TypeVar("I")  # noqa: E741 (the name of the input's type everywhere in the public surface)
Q = TypeVar("Q")
T = TypeVar("T")
Text = TypeVar("Text", bound="str | Awaitable[str]")
Argv = TypeVar("Argv", bound="Sequence[str] | Command | Awaitable[Sequence[str]] | Awaitable[Command]")
Asking = TypeVar("Asking", bound="str | Question | Awaitable[str] | Awaitable[Question]")
Pause = TypeVar("Pause", bound="timedelta | datetime | Awaitable[timedelta] | Awaitable[datetime]")


class Decorator:
    """What all decorators are: a declaration that waits for its function."""

    def __init__(self, declare: Callable[[Any], Node[..., Any, Any]]) -> None:
        self._declare: Any = declare


class Prompting(Decorator, Generic[I, T]):
    """For functions that return a text: a prompt, or a notification."""

    def __call__(self, function: Callable[[Context[I]], Text], /) -> Node[[Context[I]], Text, T]:
        """Declare the node."""
        node: Node[[Context[I]], Text, T] = self._declare(function)
        return node


class Computing(Decorator, Generic[I]):
    """For functions whose return value is the output."""

    @overload
    def __call__(self, function: Callable[[Context[I]], Awaitable[T]], /) -> Node[[Context[I]], Awaitable[T], T]: ...
    @overload
    def __call__(self, function: Callable[[Context[I]], T], /) -> Node[[Context[I]], T, T]: ...
    def __call__(self, function: Callable[[Context[I]], Any], /) -> Node[[Context[I]], Any, Any]:
        """Declare the node."""
        node: Node[[Context[I]], Any, Any] = self._declare(function)
        return node


class Acting(Decorator, Generic[I, Q]):
    """For functions that get a request and whose return value is the output."""

    @overload
    def __call__(
        self, function: Callable[[Context[I], Q], Awaitable[T]], /
    ) -> Node[[Context[I], Q], Awaitable[T], T]: ...
    @overload
    def __call__(self, function: Callable[[Context[I], Q], T], /) -> Node[[Context[I], Q], T, T]: ...
    def __call__(self, function: Callable[[Context[I], Q], Any], /) -> Node[[Context[I], Q], Any, Any]:
        """Declare the node."""
        node: Node[[Context[I], Q], Any, Any] = self._declare(function)
        return node


class Running(Decorator, Generic[I, T]):
    """For functions that return a program to run."""

    def __call__(self, function: Callable[[Context[I]], Argv], /) -> Node[[Context[I]], Argv, T]:
        """Declare the node."""
        node: Node[[Context[I]], Argv, T] = self._declare(function)
        return node


class Deciding(Decorator, Generic[I]):
    """For functions that return a question to a person."""

    def __call__(self, function: Callable[[Context[I]], Asking], /) -> Node[[Context[I]], Asking, Decided]:
        """Declare the node."""
        node: Node[[Context[I]], Asking, Decided] = self._declare(function)
        return node


class Stopping(Decorator, Generic[I, T]):
    """For functions that return what a checkpoint shows."""

    def __call__(self, function: Callable[[Context[I]], Json], /) -> Node[[Context[I]], Json, T]:
        """Declare the node."""
        node: Node[[Context[I]], Json, T] = self._declare(function)
        return node


class Waiting(Decorator, Generic[I]):
    """For functions that return how long, or until when, to wait."""

    def __call__(self, function: Callable[[Context[I]], Pause], /) -> Node[[Context[I]], Pause, None]:
        """Declare the node."""
        node: Node[[Context[I]], Pause, None] = self._declare(function)
        return node
