"""Which runs are driven: round the projects, in each the oldest eligible first, within a capacity."""

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from typing import Any

from runwright.engine.tasks import end_task, own_task


class Scheduler:
    """Starts one task for each run that is to be driven.

    A place is taken from the launch until the run's task has ended. Projects whose runs wait stand in a ring: each
    free place goes to the next of them, so that none starves another. Nothing but a launch ever waits for a place.

    Args:
        capacity: How many runs are driven at once.
        drive: Drives one run until it ended or stopped; raises nothing but cancellation.
        after: Told of each run whose task ended.
    """

    def __init__(
        self,
        *,
        capacity: int,
        drive: Callable[[str], Coroutine[Any, Any, None]],
        after: Callable[[str], None],
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity is {capacity}: at least one run has to be driven")
        self._capacity = capacity
        self._drive = drive
        self._after = after
        #: The ring: what waits of each project, by the position that made it eligible. The first is next.
        self._ring: dict[str, list[tuple[int, str]]] = {}
        self._queued: set[str] = set()
        self._again: dict[str, tuple[int, str]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stopped = False

    def submit(self, run_id: str, order: int, project: str = "") -> None:
        """Drive an eligible run.

        Args:
            run_id: The run; one that waits here already keeps its place.
            order: The position of the event that made it eligible.
            project: Its project.
        """
        if self._stopped or run_id in self._queued:
            return
        if run_id in self._tasks:
            # It became eligible while its last launch is still being put away.
            self._again[run_id] = order, project
            return
        self._queued.add(run_id)
        heapq.heappush(self._ring.setdefault(project, []), (order, run_id))
        self._fill()

    def driving(self, run_id: str) -> bool:
        """Whether the run has a task, or waits here for one."""
        return run_id in self._tasks or run_id in self._queued

    @property
    def busy(self) -> bool:
        """Whether any run has a task, or waits for one."""
        return bool(self._tasks or self._queued)

    @property
    def waiting(self) -> int:
        """How many runs wait for a place."""
        return len(self._queued)

    def interrupt(self, run_id: str) -> None:
        """Cancel a run's task; what it holds is ended by the task itself. One that waits leaves the ring."""
        self._again.pop(run_id, None)
        if run_id in self._queued:
            self._withdraw(run_id)
        if (task := self._tasks.get(run_id)) is not None:
            end_task(task)

    def stop(self) -> None:
        """Start no further task."""
        self._stopped = True
        self._ring.clear()
        self._queued.clear()
        self._again.clear()

    async def drain(self, grace: float) -> None:
        """Wait until every task has ended; after ``grace`` seconds cancel those that have not."""
        tasks = set(self._tasks.values())
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=grace)
        for task in late:
            end_task(task)
        if late:
            await asyncio.wait(late)

    def _fill(self) -> None:
        while self._ring and len(self._tasks) < self._capacity:
            run_id = self._next()
            task = own_task(self._drive(run_id), name=f"run {run_id}")
            self._tasks[run_id] = task
            task.add_done_callback(lambda _, run_id=run_id: self._ended(run_id))  # type: ignore[misc]  # bound default

    def _next(self) -> str:
        """Take the oldest run of the project whose turn it is; a project that has more goes to the end."""
        project = next(iter(self._ring))
        waiting = self._ring.pop(project)
        _, run_id = heapq.heappop(waiting)
        if waiting:
            self._ring[project] = waiting
        self._queued.discard(run_id)
        return run_id

    def _withdraw(self, run_id: str) -> None:
        self._queued.discard(run_id)
        for project, waiting in self._ring.items():
            rest = [each for each in waiting if each[1] != run_id]
            if len(rest) < len(waiting):
                heapq.heapify(rest)
                self._ring[project] = rest
                if not rest:
                    del self._ring[project]
                return

    def _ended(self, run_id: str) -> None:
        del self._tasks[run_id]
        again = self._again.pop(run_id, None)
        if again is not None:
            self.submit(run_id, *again)
        self._after(run_id)
        self._fill()
