"""Two lanes of threads for questions that read the store: short ones never wait behind long ones."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from runwright.engine.host.serving.bounds import LONG_THREADS, MOST_LONG, MOST_QUICK, QUICK_THREADS
from runwright.engine.protocol.errors import HostBusy
from runwright.engine.protocol.operations import Lane

P = ParamSpec("P")
T = TypeVar("T")


class _Pool:
    """Some threads, and a bound on what waits for them."""

    def __init__(self, name: str, threads: int, most: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"runwright-{name}")
        self._most = most
        self._under_way = 0

    async def run(self, question: Callable[[], T]) -> T:
        if self._under_way >= self._most:
            raise HostBusy("questions under way")
        self._under_way += 1
        answer = asyncio.get_running_loop().run_in_executor(self._threads, question)
        # Whoever gives up waiting does not free the thread.
        answer.add_done_callback(self._done)
        return await asyncio.shield(answer)

    def _done(self, answer: "asyncio.Future[Any]") -> None:
        self._under_way -= 1
        if not answer.cancelled():
            answer.exception()  # somebody may have given up waiting for it

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


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
        """Take no more; what is under way ends by itself."""
        for pool in self._pools.values():
            pool.close()
