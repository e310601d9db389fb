"""Random delays where threads and tasks hand something over: they bring out races that a quiet machine hides."""

import asyncio
import concurrent.futures
import functools
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

#: Every hand-over that is delayed, how often, and for how long at most (seconds), at the level of 1. Short delays are
#: more frequent than long ones.
PLACES: Final[tuple[tuple[type, str, float, float], ...]] = (
    (threading.Thread, "_bootstrap_inner", 0.1, 0.02),
    (threading.Event, "set", 0.05, 0.02),
    (concurrent.futures.Future, "set_result", 0.05, 0.02),
    (asyncio.BaseEventLoop, "call_soon_threadsafe", 0.05, 0.02),
    (asyncio.Handle, "_run", 0.004, 0.03),
)
#: How long a thread may keep the interpreter (seconds): one of these for a whole process.
TURNS: Final = (1e-5, 1e-4, 0.005, 0.02)


def delay_handovers(level: float, chance: random.Random) -> None:
    """Delay hand-overs of this process from now on.

    Args:
        level: How much: both how often and how long; 3 makes the tests take twice as long.
        chance: When, and for how long.
    """
    sys.setswitchinterval(chance.choice(TURNS))
    for owner, name, often, most in PLACES:
        setattr(owner, name, _delayed(getattr(owner, name), chance, often * level, most * level))


def _delayed(handing: Callable[..., Any], chance: random.Random, often: float, most: float) -> Callable[..., Any]:
    def pause() -> None:
        if chance.random() < often:
            time.sleep(chance.random() ** 3 * most)

    @functools.wraps(handing)
    def late(*args: Any, **kwargs: Any) -> Any:
        pause()
        try:
            return handing(*args, **kwargs)
        finally:
            pause()

    return late
