"""Waiting until something about a run changed, without looking again and again."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Watch:
    """Wakes whoever waits for a run; everything happens on one loop."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}

    @contextmanager
    def of(self, run_id: str) -> Iterator[asyncio.Event]:
        """An event that is set on each change of the run; whoever waits clears it before looking."""
        changed = asyncio.Event()
        self._waiting.setdefault(run_id, set()).add(changed)
        try:
            yield changed
        finally:
            others = self._waiting[run_id]
            others.discard(changed)
            if not others:
                del self._waiting[run_id]

    def tell(self, run_id: str) -> None:
        """Something about the run changed, and it is committed."""
        for changed in self._waiting.get(run_id, ()):
            changed.set()

    def tell_all(self) -> None:
        """The engine is closing: everybody looks again."""
        for waiting in self._waiting.values():
            for changed in waiting:
                changed.set()
