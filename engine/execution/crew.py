"""The threads that plain functions run in: quick ones share a thread, and a slow one holds up nobody."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from weakref import WeakSet

from runwright.engine.arrivals import arrivals_of

#: How long the line may stand still before those at work count as slow and others take over (seconds).
PATIENCE = 0.005
#: Idle threads that are kept.
MOST_IDLE = 32

Job = Callable[[], None]


class _Thread:
    """One thread of the crew.

    Attributes:
        call: Wakes it when it is idle.
        away: Whether it is known to be busy with something slow.
        leaves: Whether it ends, because enough others are idle.
    """

    __slots__ = ("away", "call", "leaves")

    def __init__(self) -> None:
        self.call: SimpleQueue[None] = SimpleQueue()
        self.away = False
        self.leaves = False


class Crew:
    """Threads that take jobs one after another from one line.

    A thread for each job costs two switches of threads for a function that takes microseconds, and with many runs at
    once those switches are most of the work. So whoever is at work takes the next job as well. When the line stands
    still for `PATIENCE`, those at work are left to what they do, and others take over.
    """

    def __init__(self, *, patience: float = PATIENCE, most_idle: int = MOST_IDLE) -> None:
        self._patience = patience
        self._most_idle = most_idle
        self._lock = threading.Lock()
        self._line: deque[Job] = deque()
        #: How many jobs were ever taken: by this one sees whether the line moves.
        self._taken = 0
        self._at_work: set[_Thread] = set()
        self._away = 0
        self._idle: list[_Thread] = []
        self._looking: WeakSet[asyncio.AbstractEventLoop] = WeakSet()

    def submit(self, job: Job, loop: asyncio.AbstractEventLoop) -> None:
        """Have a job done in a thread.

        Args:
            job: Never raises.
            loop: The running loop, which looks after the line.
        """
        with self._lock:
            self._line.append(job)
            called = None if self._at_work and arrivals_of(loop).prompt else self._next()
        if called is not None:
            called.call.put(None)
        elif loop not in self._looking:
            self._looking.add(loop)
            loop.call_later(self._patience, self._look, loop, self._taken)

    def _look(self, loop: asyncio.AbstractEventLoop, taken: int) -> None:
        """See whether the line has moved; where it has not, call others, more of them each time."""
        called: list[_Thread] = []
        with self._lock:
            if not self._line:
                self._looking.discard(loop)
                return
            if self._taken == taken:
                for each in self._at_work:
                    each.away = True
                self._away += len(self._at_work)
                self._at_work.clear()
                called = [self._next() for _ in range(min(len(self._line), self._away))]
            taken = self._taken
        for each in called:
            each.call.put(None)
        loop.call_later(self._patience, self._look, loop, taken)

    def _next(self) -> _Thread:
        """Take an idle thread, or start one; it waits for its call."""
        if self._idle:
            found = self._idle.pop()
        else:
            found = _Thread()
            threading.Thread(target=self._work, args=(found,), name="runwright-function", daemon=True).start()
        self._at_work.add(found)
        return found

    def _work(self, own: _Thread) -> None:
        own.call.get()
        while not own.leaves:
            job = self._take(own)
            if job is not None:
                job()
                del job  # an idle thread holds nobody's values
            elif not own.leaves:
                own.call.get()

    def _take(self, own: _Thread) -> Job | None:
        """Take the next job; where there is none, stand idle or leave."""
        with self._lock:
            if own.away:
                own.away = False
                self._away -= 1
                self._at_work.add(own)
            if self._line:
                self._taken += 1
                return self._line.popleft()
            self._at_work.discard(own)
            if len(self._idle) < self._most_idle:
                self._idle.append(own)
            else:
                own.leaves = True
            return None
