"""Two lanes of threads for questions that read the store: short ones never wait behind long ones."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, ParamSpec, TypeVar

from runwright.engine.host.serving.bounds import LONG_THREADS, MOST_LONG, MOST_QUICK, QUICK_THREADS
from runwright.engine.protocol.errors import HostBusy
from runwright.engine.protocol.operations import Lane

P = ParamSpec("P")
T = TypeVar("T")


class _Pool:
    """Some threads, and a bound on what waits for them.

    They are daemons, which those of `ThreadPoolExecutor` are not: a question that never ends, of a program's own
    projection, would keep the process of a host that has stopped.
    """

    def __init__(self, name: str, threads: int, most: int) -> None:
        self._name = f"runwright-{name}"
        self._most_threads = threads
        self._threads = 0
        self._asked: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._most = most
        self._under_way = 0
        self._closed = False

    async def run(self, question: Callable[[], T]) -> T:
        if self._closed:
            raise RuntimeError("the threads of this server have ended")
        if self._under_way >= self._most:
            raise HostBusy("questions under way")
        self._under_way += 1
        asked: Future[T] = Future()
        self._asked.put((asked, question))
        if self._threads < min(self._under_way, self._most_threads):
            self._threads += 1
            Thread(target=self._answer, name=self._name, daemon=True).start()
        answer = asyncio.wrap_future(asked)
        # Whoever gives up waiting does not free the thread.
        answer.add_done_callback(self._done)
        return await asyncio.shield(answer)

    def _answer(self) -> None:
        while (each := self._asked.get()) is not None:
            asked, question = each
            if not asked.set_running_or_notify_cancel():
                continue
            try:
                answer = question()
            except BaseException as error:  # noqa: BLE001 - whoever asked is told, whatever it is
                asked.set_exception(error)
            else:
                asked.set_result(answer)
            del asked, question, each  # kept by nothing while the next one is waited for

    def _done(self, answer: "asyncio.Future[Any]") -> None:
        self._under_way -= 1
        if not answer.cancelled():
            answer.exception()  # somebody may have given up waiting for it

    def close(self) -> None:
        self._closed = True
        with suppress(Empty):
            while (each := self._asked.get_nowait()) is not None:
                each[0].cancel()
        for _ in range(self._threads):
            self._asked.put(None)


class Lanes:
    """The threads of one server; everything but the questions happens on its loop."""

    def __init__(self) -> None:
        self._pools = {
            Lane.QUICK: _Pool("quick", QUICK_THREADS, MOST_QUICK),
            Lane.LONG: _Pool("long", LONG_THREADS, MOST_LONG),
        }

    async def run(self, lane: Lane, question: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Have a question answered in a thread of a lane.

        Raises:
            HostBusy: Too many wait for one.
        """
        return await self._pools[lane].run(lambda: question(*args, **kwargs))

    def close(self) -> None:
        """Take no more; what is under way ends by itself, or with the process."""
        for pool in self._pools.values():
            pool.close()
