"""Calling the user's functions: a coroutine on the loop, a plain function in a thread, both within a limit."""

import asyncio
import inspect
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import Literal

from runwright.engine.arrivals import arrivals_of
from runwright.engine.execution.crew import Crew

#: How long a cancelled coroutine may take to end its own affairs (an agent's process has 2 s, and 2 more).
GRACE = 10.0

_crew = Crew()
#: Functions that outlived their limit, by run. A thread belongs to the process and cannot be stopped, so no engine
#: in it may forget one: the run does not go on here until the function returned.
_outlived: dict[str, set[Future[None]]] = {}
_lock = threading.Lock()


class OutOfTime(Exception):
    """The limit passed before the function returned."""

    def __init__(self) -> None:
        super().__init__("its time was up")


class Quit(Exception):
    """A function tried to end the program, or its own task."""


async def call(run_id: str, limit: float | None, function: Callable[..., object], *args: object) -> object:
    """Call a function of the user's.

    Args:
        run_id: The run that it is called for.
        limit: Seconds; ``None`` for no limit.
        function: Plain functions run in a thread, coroutine functions on the loop.
        args: Its arguments.

    Raises:
        OutOfTime: The limit passed first. Where the function could not be stopped, `outlived` says so.
    """
    if limit is not None and limit <= 0:
        raise OutOfTime
    if inspect.iscoroutinefunction(function):
        return await _on_loop(run_id, limit, function, *args)
    value = await (in_thread(run_id, function, *args) if limit is None else _in_time(run_id, limit, function, *args))
    if inspect.isawaitable(value):  # an object with an async __call__, or a lambda around a coroutine function
        return await _on_loop(run_id, limit, _awaited, value)
    return value


async def _in_time(run_id: str, limit: float, function: Callable[..., object], *args: object) -> object:
    clock = asyncio.timeout(limit)
    try:
        async with clock:
            return await in_thread(run_id, function, *args)
    except TimeoutError:
        if clock.expired():
            raise OutOfTime from None
        raise


async def in_thread(run_id: str, function: Callable[..., object], *args: object) -> object:
    """Call a plain function in a thread. Cancelled, it leaves the function running and remembers it."""
    loop = asyncio.get_running_loop()
    thread_call = _ThreadCall(loop, function, args)
    _crew.submit(thread_call, loop)
    try:
        await thread_call.done
    except asyncio.CancelledError:
        returned = thread_call.leave()
        if returned is not None:
            _remember(run_id, returned)
        raise
    error = thread_call.error
    if error is None:
        return thread_call.value
    raise error if isinstance(error, Exception) else Quit(f"it raised {type(error).__name__}") from error


class _ThreadCall:
    """One call of a plain function on its way through a thread."""

    __slots__ = (
        "_args",
        "_arrivals",
        "_context",
        "_function",
        "_loop",
        "_returned",
        "_state",
        "done",
        "error",
        "value",
    )

    def __init__(
        self, loop: asyncio.AbstractEventLoop, function: Callable[..., object], args: tuple[object, ...]
    ) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self.value: object = None
        self.error: BaseException | None = None
        self._loop = loop
        self._arrivals = arrivals_of(loop)
        self._arrivals.awaited += 1
        self._context = copy_context()
        self._function = function
        self._args = args
        self._state: Literal["waits", "runs", "over"] = "waits"
        self._returned: Future[None] | None = None

    def __call__(self) -> None:
        """Run it; in the thread."""
        if not self._go("runs"):
            return
        try:
            self.value = self._context.run(self._function, *self._args)
        except BaseException as error:  # noqa: BLE001 (handed to whoever waits)
            self.error = error
        self._go("over")
        if self._returned is not None:
            self._returned.set_result(None)
        self._arrivals.add(self._loop, self._tell)

    def leave(self) -> "Future[None] | None":
        """Stop waiting: what has not begun never does; answer when what has begun returns."""
        with _lock:
            if self._state == "runs":
                self._returned = Future()
                self._returned.set_running_or_notify_cancel()
            elif self._state == "waits":
                self._arrivals.awaited -= 1  # its thread will have nothing to tell
            self._state = "over"
            return self._returned

    def _go(self, state: Literal["runs", "over"]) -> bool:
        with _lock:
            left = self._state == "over"
            self._state = state
            return not left

    def _tell(self) -> None:
        self._arrivals.awaited -= 1
        if not self.done.done():
            self.done.set_result(None)


def outlived(run_id: str) -> bool:
    """Whether a function of the run is still running although its attempt ended."""
    return run_id in _outlived


async def returned(run_id: str) -> None:
    """Wait until every function of the run that outlived its limit has returned."""
    while outlived(run_id):
        with _lock:
            waiting = list(_outlived.get(run_id, ()))
        for done in waiting:
            await asyncio.wrap_future(done)


async def _on_loop(run_id: str, limit: float | None, function: Callable[..., object], *args: object) -> object:
    # A task of its own, so that one that swallows its cancellation cannot hold the attempt open.
    task = asyncio.ensure_future(_contained(function, *args))
    try:
        await asyncio.wait({task}, timeout=limit)
        in_time = task.done()
    finally:
        if not task.done():
            await _end(run_id, task)
    if not in_time:
        raise OutOfTime
    if task.cancelled():
        raise Quit("it cancelled itself")
    error = task.exception()
    if error is None:
        return task.result()
    raise error if isinstance(error, Exception) else Quit(f"it raised {type(error).__name__}") from error


async def _end(run_id: str, task: "asyncio.Task[object]") -> None:
    task.cancel()
    await asyncio.wait({task}, timeout=GRACE)
    if not task.done():
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()
        task.add_done_callback(lambda _: done.set_result(None))
        _remember(run_id, done)
    elif not task.cancelled():
        task.exception()  # retrieved, so that nobody is told of an error that the end of time explains


async def _contained(function: Callable[..., object], *args: object) -> object:
    try:
        value = function(*args)
        return await value if inspect.isawaitable(value) else value
    except (SystemExit, KeyboardInterrupt) as error:  # let out of a task, they would end the program's loop
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise  # somebody's Ctrl-C
        raise Quit(f"it raised {type(error).__name__}") from error


async def _awaited(value: object) -> object:
    return await value if inspect.isawaitable(value) else value


def _remember(run_id: str, done: "Future[None]") -> None:
    with _lock:
        _outlived.setdefault(run_id, set()).add(done)

    def forget(_: object) -> None:
        with _lock:
            waiting = _outlived[run_id]
            waiting.discard(done)
            if not waiting:
                del _outlived[run_id]

    done.add_done_callback(forget)  # at once where it has returned in the meantime


def _forget_threads() -> None:
    global _crew
    _crew = Crew()
    _outlived.clear()


os.register_at_fork(after_in_child=_forget_threads)
