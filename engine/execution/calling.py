"""Calling the user's functions: a coroutine on the loop, a plain function in a thread, both within a limit."""

import asyncio
import inspect
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from typing import Literal, NoReturn

from runwright.engine.arrivals import arrivals_of
from runwright.engine.execution.crew import Crew
from runwright.engine.execution.forks import Steps, end_fork
from runwright.engine.tasks import Owner, end_task, owns, task_of

#: How long a cancelled coroutine may take to end its own affairs (an agent's process has 2 s, and 2 more).
GRACE = 10.0

_crew = Crew()
#: Functions that outlived their limit, by run. A thread belongs to the process and cannot be stopped, so no engine
#: in it may forget one: the run does not go on here until the function returned.
_outlived: dict[str, set[Future[None]]] = {}
#: When coroutine functions have to have let go of their loops at the latest, on the monotonic clock.
_let_go: dict[object, float] = {}
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
        OutOfTime: The limit passed first, also where the function returned something after it. Where the function
            could not be stopped, `outlived` says so.
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
    loop = asyncio.get_running_loop()
    ends = loop.time() + limit
    thread_call = _ThreadCall(loop, function, args)
    clock = asyncio.timeout_at(ends)
    try:
        async with clock:
            await _done(run_id, thread_call)
    except TimeoutError:
        # A loop that was held up tells late of what came in time.
        if not thread_call.ended_by(ends):
            raise OutOfTime from None
    return thread_call.result(ends)


async def in_thread(run_id: str, function: Callable[..., object], *args: object) -> object:
    """Call a plain function in a thread. Cancelled, it leaves the function running and remembers it."""
    thread_call = _ThreadCall(asyncio.get_running_loop(), function, args)
    await _done(run_id, thread_call)
    return thread_call.result()


async def _done(run_id: str, thread_call: "_ThreadCall") -> None:
    _crew.submit(thread_call, thread_call.loop)
    try:
        await thread_call.done
    except asyncio.CancelledError:
        returned = thread_call.leave()
        if returned is not None:
            _remember(run_id, returned)
        raise


class _ThreadCall:
    """One call of a plain function on its way through a thread."""

    __slots__ = (
        "_args",
        "_arrivals",
        "_context",
        "_ended_at",
        "_error",
        "_function",
        "_returned",
        "_state",
        "_value",
        "done",
        "loop",
    )

    def __init__(
        self, loop: asyncio.AbstractEventLoop, function: Callable[..., object], args: tuple[object, ...]
    ) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self.loop = loop
        self._value: object = None
        self._error: BaseException | None = None
        self._ended_at = math.inf
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
        pid = os.getpid()
        try:
            self._context.run(owns, Owner())
            self._value = self._context.run(self._function, *self._args)
        except BaseException as error:  # noqa: BLE001 (handed to whoever waits)
            self._error = error
        if os.getpid() != pid:
            end_fork(self._error)
        self._ended_at = self.loop.time()
        self._go("over")
        if self._returned is not None:
            self._returned.set_result(None)
        self._arrivals.add(self.loop, self._tell)

    def ended_by(self, time: float) -> bool:
        """Whether the function had ended by a time of the loop's."""
        return self._ended_at <= time

    def result(self, ends: float = math.inf) -> object:
        """Answer what the function returned.

        Raises:
            OutOfTime: It returned after its time.
        """
        if self._error is not None:
            _raise(self._error)
        if self._ended_at > ends:
            raise OutOfTime
        return self._value

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


def is_held() -> bool:
    """Whether a coroutine function holds its loop beyond its limit: nothing that runs there can end it."""
    now = time.monotonic()
    return any(each < now for each in list(_let_go.values()))


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
    loop = asyncio.get_running_loop()
    ends = math.inf if limit is None else loop.time() + limit
    task = task_of(Owner(loop), Steps(_contained(loop, function, *args)))
    with _letting_go(limit):
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
    if error is not None:
        _raise(error)
    value, ended_at = task.result()
    if ended_at > ends:  # one that holds up the loop also holds up the clock
        raise OutOfTime
    return value


@contextmanager
def _letting_go(limit: float | None) -> Iterator[None]:
    """Have it known until when the block has to be over, with the time that a cancelled coroutine gets."""
    key = object()
    _let_go[key] = math.inf if limit is None else time.monotonic() + limit + 2 * GRACE
    try:
        yield
    finally:
        _let_go.pop(key, None)  # gone already in a forked process


def _raise(error: BaseException) -> NoReturn:
    if isinstance(error, Exception):
        raise error
    raise Quit(f"it raised {type(error).__name__}") from error


async def _end(run_id: str, task: "asyncio.Task[tuple[object, float]]") -> None:
    end_task(task)
    await asyncio.wait({task}, timeout=GRACE)
    if not task.done():
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()
        task.add_done_callback(lambda _: done.set_result(None))
        _remember(run_id, done)
    elif not task.cancelled():
        task.exception()  # retrieved, so that nobody is told of an error that the end of time explains


async def _contained(
    loop: asyncio.AbstractEventLoop, function: Callable[..., object], *args: object
) -> tuple[object, float]:
    """The function's value, and when it was there."""
    pid = os.getpid()
    try:
        value = function(*args)
        value = await value if inspect.isawaitable(value) else value
    except (SystemExit, KeyboardInterrupt) as error:  # let out of a task, they would end the program's loop
        if os.getpid() != pid:
            raise  # for the forked process, they say how it ends
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise  # somebody's Ctrl-C
        raise Quit(f"it raised {type(error).__name__}") from error
    return value, loop.time()


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
    global _crew, _lock
    _crew, _lock = Crew(), threading.Lock()
    _outlived.clear()
    _let_go.clear()


os.register_at_fork(after_in_child=_forget_threads)
