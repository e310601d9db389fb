"""Arrivals on a loop: all of them, in order, with one wake-up."""

import asyncio
import threading
from functools import partial

from runwright.engine.arrivals import arrivals_of


async def test_what_arrives_together_wakes_the_loop_once() -> None:
    """A thread brings many things while the loop is busy; they are done in their order."""
    loop = asyncio.get_running_loop()
    arrivals, done, finished = arrivals_of(loop), list[int](), asyncio.Event()

    def bring() -> None:
        for number in range(1_000):
            arrivals.add(loop, partial(done.append, number))
        arrivals.add(loop, finished.set)

    thread = threading.Thread(target=bring)
    thread.start()
    thread.join()
    assert not done, "nothing happens outside of the loop's own turn"
    await asyncio.wait_for(finished.wait(), 20)
    assert done == list(range(1_000))


async def test_a_loop_has_one_place_for_arrivals() -> None:
    """Whoever asks on a loop shares its wake-up."""
    loop = asyncio.get_running_loop()
    assert arrivals_of(loop) is arrivals_of(loop)


def test_a_closed_loop_is_left_alone() -> None:
    """What arrives for a loop that is gone is dropped without a word."""
    loop = asyncio.new_event_loop()
    arrivals, done = arrivals_of(loop), list[int]()
    loop.close()
    arrivals.add(loop, partial(done.append, 1))
    assert done == []
