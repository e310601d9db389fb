"""What is due when: one sleep until the next timer, no polling."""

import asyncio
import heapq
import itertools
from collections.abc import Callable

from attrs import define, field

from runwright.engine.clock import Clock

#: The longest sleep while a timer follows the wall clock, which may jump (seconds).
WALL_CHECK = 60.0


@define(kw_only=True)
class _Entry:
    run_id: str
    kind: str
    due: int
    absolute: bool
    wake: float
    live: bool = field(default=True)


class Timers:
    """The timers of every live run, on the loop that drives them.

    A living holder counts a timer down on the monotonic clock from when it set or restored it; the wall clock
    decides at the restore, and for a wait until a datetime (fine print, "Timers").
    """

    def __init__(self, clock: Clock, loop: asyncio.AbstractEventLoop, fire: Callable[[str, str], None]) -> None:
        self._clock = clock
        self._loop = loop
        self._fire = fire
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._heap: list[tuple[float, int, _Entry]] = []
        self._numbers = itertools.count()
        self._handle: asyncio.TimerHandle | None = None
        self._closed = False

    def set(self, run_id: str, kind: str, due: int, *, absolute: bool = False) -> None:
        """Set a timer, or set it anew; an equal one goes on counting.

        Args:
            run_id: The run.
            kind: ``wait``, ``retry``, ``deadline``, ``run`` or ``delivery``; a run has one of each.
            due: UTC microseconds.
            absolute: Whether the wall clock decides.
        """
        known = self._entries.get((run_id, kind))
        if known is not None:
            if known.due == due and known.absolute == absolute:
                return
            known.live = False
        entry = _Entry(run_id=run_id, kind=kind, due=due, absolute=absolute, wake=self._wake(due, absolute))
        self._entries[run_id, kind] = entry
        self._push(entry)

    def again(self, run_id: str, kind: str, delay: float) -> None:
        """Fire a timer again in ``delay`` seconds, because the store could not take it now."""
        entry = _Entry(run_id=run_id, kind=kind, due=0, absolute=False, wake=self._clock.monotonic() + delay)
        if (known := self._entries.get((run_id, kind))) is not None:
            known.live = False
        self._entries[run_id, kind] = entry
        self._push(entry)

    def keep(self, run_id: str, kinds: frozenset[str]) -> None:
        """Drop every timer of a run but these kinds."""
        for kind in ("wait", "retry", "deadline", "run", "delivery"):
            if kind not in kinds and (entry := self._entries.pop((run_id, kind), None)) is not None:
                entry.live = False

    def __len__(self) -> int:
        return len(self._entries)

    def close(self) -> None:
        """Fire nothing any more."""
        self._closed = True
        if self._handle is not None:
            self._handle.cancel()

    def _wake(self, due: int, absolute: bool) -> float:
        left = max(0.0, (due - self._clock.now()) / 1_000_000)
        return self._clock.monotonic() + (min(left, WALL_CHECK) if absolute else left)

    def _push(self, entry: _Entry) -> None:
        heapq.heappush(self._heap, (entry.wake, next(self._numbers), entry))
        self._sleep()

    def _sleep(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        while self._heap and not self._heap[0][2].live:
            heapq.heappop(self._heap)
        if self._heap and not self._closed:
            self._handle = self._loop.call_later(max(0.0, self._heap[0][0] - self._clock.monotonic()), self._due)

    def _due(self) -> None:
        self._handle = None
        now = self._clock.monotonic()
        while self._heap and (not self._heap[0][2].live or self._heap[0][0] <= now):
            entry = heapq.heappop(self._heap)[2]
            if not entry.live:
                continue
            if entry.absolute and self._clock.now() < entry.due:
                entry.wake = self._wake(entry.due, True)
                heapq.heappush(self._heap, (entry.wake, next(self._numbers), entry))
                continue
            entry.live = False
            self._entries.pop((entry.run_id, entry.kind), None)
            self._fire(entry.run_id, entry.kind)
        self._sleep()
