"""Tasks that share a loop with the user's code: what that code begins is its own to cancel, and nothing else is."""

import asyncio
from collections.abc import Coroutine, Generator
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")


class Owner:
    """One call of a function of the user's, as the owner of the tasks that it begins.

    Attributes:
        loop: The loop that it runs on; ``None`` for one in a thread.
    """

    __slots__ = ("loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.loop = loop


_owner: "ContextVar[Owner | None]" = ContextVar("runwright_owner", default=None)


class OwnedTask(asyncio.Task[T]):
    """A task that a function of the user's cannot cancel unless it began it.

    `asyncio.all_tasks` lists everything on the loop: the engine's tasks, and what other runs do there.
    """

    def __init__(
        self, work: Coroutine[Any, Any, T] | Generator[Any, None, T], *, owner: Owner | None = None, **options: Any
    ) -> None:
        self._owner = owner
        super().__init__(work, **options)

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel it, where whoever asks may."""
        asks = _owner.get()
        return (asks is None or asks is self._owner) and super().cancel(msg)


def own_task(work: Coroutine[Any, Any, T], *, name: str | None = None) -> OwnedTask[T]:
    """Begin a task of the engine's own, whoever's code asked for it."""
    context = copy_context()
    context.run(_owner.set, None)
    return OwnedTask(work, loop=asyncio.get_running_loop(), name=name, context=context)


def task_of(owner: Owner, work: Coroutine[Any, Any, T]) -> OwnedTask[T]:
    """Begin a task that does the work of one call."""
    context = copy_context()
    context.run(_owner.set, owner)
    return OwnedTask(work, owner=owner, loop=asyncio.get_running_loop(), context=context)


def end_task(task: "asyncio.Task[Any]") -> None:
    """Cancel a task for the engine, also where a function of the user's asked the engine for it."""
    asyncio.Task.cancel(task)


def owns(owner: Owner) -> None:
    """Let what follows in this context be the work of one call."""
    _owner.set(owner)


def owner() -> Owner | None:
    """Whose work this is; ``None`` for the engine and the program around it."""
    return _owner.get()


def make_task(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T] | Generator[Any, None, T], /, **options: Any
) -> OwnedTask[T]:
    """The task factory of a loop that belongs to the engine: all of its tasks have an owner."""
    return OwnedTask(work, owner=_owner.get(), loop=loop, **options)


def new_loop() -> asyncio.AbstractEventLoop:
    """Answer a new loop that belongs to the engine."""
    loop = asyncio.new_event_loop()
    loop.set_task_factory(make_task)
    return loop
