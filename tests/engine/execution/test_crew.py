"""The crew: quick jobs share a thread, slow ones get threads of their own."""

import asyncio
import threading

from runwright.engine.execution.crew import Crew


async def test_quick_jobs_share_a_thread() -> None:
    """A line of them is done by whoever is at work, in order."""
    crew, seen, done = Crew(patience=5), list[tuple[int, int]](), threading.Event()
    loop = asyncio.get_running_loop()
    for number in range(100):
        crew.submit(lambda number=number: seen.append((number, threading.get_ident())), loop)  # type: ignore[misc]
    crew.submit(done.set, loop)
    assert await asyncio.to_thread(done.wait, 20)
    assert [number for number, _ in seen] == list(range(100))
    assert len({thread for _, thread in seen}) == 1


async def test_slow_jobs_all_run_at_once() -> None:
    """Each of many that wait for one another has a thread in the end."""
    crew, met = Crew(patience=0.001), threading.Event()
    barrier = threading.Barrier(50, action=met.set)

    def meet() -> None:
        barrier.wait(20)

    loop = asyncio.get_running_loop()
    for _ in range(50):
        crew.submit(meet, loop)
    await asyncio.wait_for(asyncio.to_thread(met.wait, 20), 20)
    assert met.is_set()


async def test_only_so_many_threads_stay_idle() -> None:
    """Threads beyond the bound end when their job has."""
    crew, met, before = Crew(patience=0.001, most_idle=2), threading.Event(), set(threading.enumerate())
    barrier = threading.Barrier(10, action=met.set)

    def meet() -> None:
        barrier.wait(20)

    loop = asyncio.get_running_loop()
    for _ in range(10):
        crew.submit(meet, loop)
    assert await asyncio.to_thread(met.wait, 20)
    ours = {each for each in threading.enumerate() if each.name == "runwright-function"} - before
    while sum(each.is_alive() for each in ours) > 2:
        await asyncio.sleep(0)
    done = threading.Event()
    crew.submit(done.set, loop)
    assert await asyncio.to_thread(done.wait, 20)
