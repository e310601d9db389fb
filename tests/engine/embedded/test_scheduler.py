"""The scheduler drives the oldest eligible first, within its capacity, and never a run twice at once."""

import asyncio

import pytest

from runwright.engine.embedded.scheduler import Scheduler


class Drives:
    """Drives that end when they are told to."""

    def __init__(self, capacity: int) -> None:
        self.started: list[str] = []
        self.ended: list[str] = []
        self.cancelled: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.scheduler = Scheduler(capacity=capacity, drive=self.drive, after=self.ended.append)

    async def drive(self, run_id: str) -> None:
        """Wait for the gate."""
        self.started.append(run_id)
        gate = self.gates[run_id] = asyncio.Event()
        try:
            await gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(run_id)

    async def settle(self) -> None:
        """Let everything that can go on go on."""
        for _ in range(5):
            await asyncio.sleep(0)

    async def end(self, run_id: str) -> None:
        """Let one drive end."""
        self.gates[run_id].set()
        await self.settle()


async def test_oldest_first_within_capacity() -> None:
    """No more than the capacity at once; the free place goes to the oldest."""
    drives = Drives(2)
    for run_id, order in (("a", 1), ("b", 2), ("d", 9), ("c", 5)):
        drives.scheduler.submit(run_id, order)
    await drives.settle()
    assert drives.started == ["a", "b"]
    await drives.end("b")
    assert drives.started == ["a", "b", "c"]
    await drives.end("a")
    assert drives.started == ["a", "b", "c", "d"]


async def test_a_driven_run_waits_for_its_own_end() -> None:
    """A run that becomes eligible while it is driven is driven again afterwards, not beside."""
    drives = Drives(4)
    drives.scheduler.submit("a", 1)
    await drives.settle()
    drives.scheduler.submit("a", 7)
    await drives.settle()
    assert drives.started == ["a"]
    await drives.end("a")
    assert drives.started == ["a", "a"]


async def test_interrupt_cancels_and_forgets() -> None:
    """An interrupted run's task is cancelled; one that only waits is not started at all."""
    drives = Drives(1)
    drives.scheduler.submit("a", 1)
    drives.scheduler.submit("b", 2)
    await drives.settle()
    drives.scheduler.interrupt("b")
    drives.scheduler.interrupt("a")
    await drives.settle()
    assert drives.cancelled == ["a"]
    assert drives.started == ["a"]
    assert drives.ended == ["a"]


async def test_stop_and_drain() -> None:
    """A stopped scheduler starts nothing, and a drain cancels what outlives the grace."""
    drives = Drives(1)
    drives.scheduler.submit("a", 1)
    drives.scheduler.submit("b", 2)
    await drives.settle()
    drives.scheduler.stop()
    await drives.scheduler.drain(0)
    await drives.settle()
    assert drives.cancelled == ["a"]
    assert drives.started == ["a"]
    drives.scheduler.submit("c", 3)
    await drives.settle()
    assert drives.started == ["a"]


def test_capacity_has_to_be_positive() -> None:
    """A capacity of nothing is refused."""
    with pytest.raises(ValueError, match="at least one"):
        Drives(0)
