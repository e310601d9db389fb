"""A clock that stands still while anything runs and jumps to the next timer when nothing does, and a loop on it."""

import asyncio
import math
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, TypeVarTuple, Unpack

from runwright.engine.arrivals import Arrivals, arrivals_of, arrive_by
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.tasks import make_task
from runwright.engine.testing.errors import StandsStill

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

#: Seconds that a loop which waits for nothing it knows of is given before that counts as standing still for ever.
PATIENCE = 5.0

#: Seconds that the loop waits for a thread before it goes on with what else there is to do.
PROMPT = 1.0

#: The longest that one turn of waiting for a thread takes (seconds). What is waited for is counted in turns, so that a
#: machine that stands still for a while uses up one of them, and none of the time that the thread is given.
TURN = 0.02


class VirtualClock:
    """Both hands move together, and only when somebody moves them.

    Args:
        start: UTC microseconds; by default the machine's time.
    """

    def __init__(self, start: int | None = None) -> None:
        self._start = self._us = time.time_ns() // 1000 if start is None else start

    def now(self) -> int:
        """UTC in microseconds."""
        return self._us

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps back."""
        return (self._us - self._start) / 1_000_000

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._us += max(1, math.ceil(seconds * 1_000_000))


class _Arrivals(Arrivals):
    """What arrives from threads, kept until the loop has done what it was about to do.

    Where it came between depended on how quick its thread was, and by that the order of a run's commits.

    Args:
        loop: The loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.prompt = False
        self._loop = loop
        self._thread = threading.get_ident()
        #: What has arrived from other threads.
        self.kept: deque[Callable[[], None]] = deque()
        self._came = threading.Event()

    @property
    def outstanding(self) -> int:
        """How much of what is awaited is still in its thread."""
        return self.awaited - len(self.kept) - len(self._arrived)

    def add(self, loop: asyncio.AbstractEventLoop, do: Callable[[], None]) -> None:
        """As every loop's; what comes from another thread only wakes this one."""
        if threading.get_ident() == self._thread:
            super().add(loop, do)
            return
        self.kept.append(do)
        self._came.set()
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(_wake)

    def hear(self, seconds: float) -> bool:
        """Wait for a thread; whether one was heard."""
        heard = self._came.wait(seconds)
        self._came.clear()
        return heard

    def take(self) -> None:
        """Have what was kept done next."""
        while self.kept:
            super().add(self._loop, self.kept.popleft())


def _wake() -> None:
    """What wakes a loop need do nothing else."""


class _Waiting(selectors.DefaultSelector):
    """Waits in reality only for what happens in reality; else it lets the time pass."""

    def __init__(
        self,
        clock: VirtualClock,
        busy: Callable[[], bool],
        arrivals: _Arrivals,
        real: Callable[[], bool],
        still: Callable[[], None],
    ) -> None:
        super().__init__()
        self._clock = clock
        self._busy = busy
        self._arrivals = arrivals
        self._real = real
        self._still = still
        self._slow = False

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not self._busy():
            self._slow = False
        # Where something has arrived, there is something to do.
        ready = self._select(0 if self._arrivals.kept else timeout)
        self._arrivals.take()
        return ready

    def _select(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            self._hear_threads()
            return ready
        if timeout is None and not self._busy():
            ready = self._in_turns(PATIENCE)
            if not ready and not self._busy():
                self._still()
            return ready
        if self._real():
            # Programs are bounded by how long they really take.
            started = time.monotonic()
            ready = super().select(timeout)
            if not ready and timeout is not None:
                self._clock.advance(timeout)
            else:
                self._clock.advance(time.monotonic() - started)
            return ready
        # A thread is bounded by how long nothing else happens.
        ready = self._in_turns(timeout) if self._busy() else []
        if not ready and timeout is not None:
            self._clock.advance(timeout)
        return ready

    def _hear_threads(self) -> None:
        """Hear quick threads before the loop goes on with anything else: who of them is first must not be chance."""
        left = PROMPT
        while self._arrivals.outstanding and not self._slow and not self._real():
            if not self._arrivals.hear(TURN):
                left -= TURN
                self._slow = left <= 0

    def _in_turns(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for a thread for so many seconds of turns."""
        if timeout is None:
            return super().select()
        ready: list[tuple[selectors.SelectorKey, int]] = []
        while not ready and timeout > 0:
            ready = super().select(min(timeout, TURN))
            timeout -= TURN
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on a virtual clock.

    Time passes at once when the loop has nothing to do but wait for a timer. It stands still while a thread works for
    the loop, and goes with the machine's while a program or a real effect runs.

    Args:
        clock: The clock.
        still: Told, once, that the loop waits for what will never come; by default, and from then on, that is an error.
    """

    def __init__(self, clock: VirtualClock, still: Callable[[], None] | None = None) -> None:
        self._clock = clock
        self._still = still
        self._real_work = 0
        arrivals = _Arrivals(self)
        self._selector_ = _Waiting(clock, self._is_busy, arrivals, self._is_real, self._stands_still)
        super().__init__(self._selector_)
        self.set_task_factory(make_task)
        arrive_by(self, arrivals)
        self._executor = ThreadPoolExecutor(thread_name_prefix="runwright-testing")
        self.set_default_executor(self._executor)
        # A timer is due when the clock shows its time; the loop asks for that up to a resolution that ours lacks.
        self._clock_resolution = 1e-6
        self._own_files = len(self._selector_.get_map())

    def time(self) -> float:
        """The virtual clock, in seconds."""
        return self._clock.monotonic()

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> "asyncio.Future[T]":
        """As every loop's; time stands still until it is done."""
        if executor is None:
            executor = self._executor
        return LoopBridge(self).wrap(executor.submit(func, *args))

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """As every loop's, for as long as it takes: a bound in real seconds is one that this clock would leap over."""
        del timeout
        with self.real():
            await super().shutdown_default_executor()

    @contextmanager
    def real(self) -> Iterator[None]:
        """Something real runs: time goes with the machine's."""
        self._real_work += 1
        try:
            yield
        finally:
            self._real_work -= 1

    def _stands_still(self) -> None:
        if self._still is None:
            raise StandsStill
        still, self._still = self._still, None
        still()

    def _is_busy(self) -> bool:
        return arrivals_of(self).awaited > 0 or self._is_real()

    def _is_real(self) -> bool:
        return self._real_work > 0 or len(self._selector_.get_map()) > self._own_files


def run_virtually(
    clock: VirtualClock, work: Callable[[], Coroutine[Any, Any, T]], still: Callable[[], None] | None = None
) -> T:
    """Run a coroutine on a loop of its own with a virtual clock, also where a loop is running already.

    Args:
        clock: The clock.
        work: Makes the coroutine.
        still: As for `VirtualLoop`.
    """

    def run() -> T:
        with asyncio.Runner(loop_factory=lambda: VirtualLoop(clock, still)) as runner:
            return runner.run(work())

    return _apart(run) if _on_loop() else run()


def _on_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _apart(run: Callable[[], T]) -> T:
    """Run something in a thread of its own, and wait for it."""
    done: Future[T] = Future()

    def work() -> None:
        try:
            done.set_result(run())
        except BaseException as error:  # noqa: BLE001 (handed to whoever waits)
            done.set_exception(error)

    thread = threading.Thread(target=work, name="runwright-testing")
    thread.start()
    thread.join()
    return done.result()
