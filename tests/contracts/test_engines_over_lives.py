"""`Engine` and `AsyncEngine` behave the same: who holds the store, what closing leaves, and how the next goes on."""

import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from runwright import Context, RecoveryRequiredError, StoreInUse, Workflow
from runwright.engine.clock import SystemClock
from runwright.eventstore.errors import StoreClosed
from support.engine_jobs import Gate, Job, chain, close_at_the_boundary, double, say
from support.engines import KINDS, opened, until

pytestmark = pytest.mark.parametrize("kind", KINDS)


async def test_close_parks_at_the_boundary_and_a_reopened_engine_goes_on(kind: str, tmp_path: Path) -> None:
    """Closing lets the node under way finish; with its workflow handed back the run goes on by itself."""
    gate = Gate()
    workflow = chain(gate.gate, double)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(workflow, Job(5))
        await gate.reached()
        head = await close_at_the_boundary(engine, run_id, gate)
        assert head is not None
    async with opened(kind, tmp_path / "state", workflows=[workflow]) as engine:
        outcome = await engine.wait(run_id)
        assert (outcome.status, outcome.output, outcome.path) == ("completed", 10, ("gate", "double"))
        assert gate.calls == 1
        parked = [event.event for event in await engine.events(run_id, types=["run.parked"])]
        assert [each.reason for each in parked] == ["host_stopped"]


async def test_close_ends_what_takes_too_long(kind: str, tmp_path: Path) -> None:
    """After its grace a close cancels what still runs; the run is carried on later in the same attempt."""
    begun = threading.Event()
    calls: list[int] = []

    async def slow(ctx: Context[Job]) -> int:
        calls.append(ctx.attempt)
        begun.set()
        if len(calls) == 1:
            await asyncio.sleep(3600)
        return len(calls)

    workflow = chain(slow)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(workflow, Job(5))
        assert await asyncio.to_thread(begun.wait, 30)
        await engine.close(grace=0)
    async with opened(kind, tmp_path / "state", workflows=[workflow]) as engine:
        outcome = await engine.wait(run_id)
        assert (outcome.status, outcome.output, calls) == ("completed", 2, [1, 1])


async def test_a_run_handed_to_nobody_waits(kind: str, tmp_path: Path) -> None:
    """Without its workflow a run is not driven; asking for it says what is missing, and handing it back helps."""
    gate = Gate()
    workflow = chain(gate.gate, double)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(workflow, Job(5))
        await gate.reached()
        await close_at_the_boundary(engine, run_id, gate)
    async with opened(kind, tmp_path / "state") as engine:
        assert (await engine.wait(run_id, until="waiting")).status == "queued"
        with pytest.raises(RecoveryRequiredError) as required:
            await engine.resume(run_id)
        assert required.value.code == "environment_missing"
        status = await engine.status(run_id)
        assert status.reason is not None
        assert status.reason.code == "environment_missing"
    async with opened(kind, tmp_path / "state", workflows=[workflow]) as engine:
        assert (await engine.wait(run_id, until="waiting")).status == "queued"
        await engine.resume(run_id)
        assert (await engine.wait(run_id)).status == "completed"


async def test_one_process_holds_the_store(kind: str, tmp_path: Path) -> None:
    """A second engine on the same folder is told who holds it."""
    async with opened(kind, tmp_path / "state"):
        with pytest.raises(StoreInUse):
            async with opened(kind, tmp_path / "state"):
                pass


async def test_a_closed_engine_refuses(kind: str, tmp_path: Path) -> None:
    """After close nothing can be asked or started; closing again answers the same head."""
    async with opened(kind, tmp_path / "state") as engine:
        head = await engine.close()
        assert await engine.close() == head
        with pytest.raises(StoreClosed):
            await engine.start(chain(double), Job(1))
        with pytest.raises(StoreClosed):
            await engine.status("0" * 20)


async def test_reading_needs_no_lock(kind: str, tmp_path: Path) -> None:
    """What an engine did can be replayed, exported and verified, and equals its own rows."""
    async with opened(kind, tmp_path / "state") as engine:
        outcome = await engine.run(chain(double, say), Job(21))
        replayed = await engine.replay(outcome.run_id)
        assert replayed["rows"]["runs"] == (await engine.query("runs")).items
        step = await engine.replay(outcome.run_id, step=1)
        assert step["rows"]["runs"][0]["node"] == "double"
        assert (await engine.verify()).ok
        lines = list(engine.reader.export(outcome.run_id))
        assert len(lines) == 1 + len(await engine.events(outcome.run_id))


async def test_a_durable_wait_outlives_its_engine(kind: str, tmp_path: Path) -> None:
    """A wait goes on while nobody holds the store, and what fell due meanwhile happens at the next opening."""
    workflow = Workflow("sleepy", input=Job)
    pause = workflow.wait("pause", timedelta(milliseconds=150))
    after = workflow.compute(double)
    workflow.entry(pause)
    workflow.then(pause, after)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(workflow, Job(3))

        async def waiting() -> bool:
            return bool((await engine.status(run_id)).status == "waiting")

        await until(waiting)
    async with opened(kind, tmp_path / "state", workflows=[workflow]) as engine:
        assert (await engine.wait(run_id)).output == 6
        assert (await engine.query("timers")).items == []


async def test_a_claim_that_ran_out_is_taken_again(kind: str, tmp_path: Path) -> None:
    """After a stall longer than a lease the old worker changes nothing, and the run goes on in a new generation."""
    clock = Stalled()
    calls: list[int] = []

    def stall(ctx: Context[Job]) -> int:
        calls.append(1)
        if len(calls) == 1:
            clock.behind += 60
        return len(calls)

    async with opened(kind, tmp_path / "state", clock=clock) as engine:
        outcome = await engine.run(chain(stall), Job(1))
        assert (outcome.status, outcome.output) == ("completed", 2)
        (queue,) = (await engine.query("queue")).items
        assert queue["generation"] == 2
        assert [row["outcome"] for row in (await engine.query("workers", sort=["launched_at"])).items] == [
            "crashed",
            "finished",
        ]


class Stalled(SystemClock):
    """A clock that can jump ahead, as after a process was stopped."""

    def __init__(self) -> None:
        self.behind = 0.0

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return super().monotonic() + self.behind


async def test_a_handed_in_workflow_that_changed_is_not_driven_blindly(kind: str, tmp_path: Path) -> None:
    """A started run whose definition changed parks and can be carried on by accepting; a queued one fails to launch."""
    gate = Gate()
    old, new = chain(gate.gate, double), chain(gate.gate, double, say)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(old, Job(5))
        await gate.reached()
        queued = await engine.start(old, Job(6), drive=False)
        await close_at_the_boundary(engine, run_id, gate)
    async with opened(kind, tmp_path / "state", workflows=[new]) as engine:
        failed = await engine.wait(queued)
        assert (failed.status, failed.error and failed.error.code) == ("failed", "source_changed")
        assert (await engine.query("runs", where=[f"run_id={queued}"])).items[0]["input_erased"] is True
        await engine.wait(run_id, until="waiting")
        reason = (await engine.status(run_id)).reason
        assert reason is not None
        assert reason.code == "source_changed"
        await engine.resume(run_id, accept_source=True)
        assert (await engine.wait(run_id)).output == "10 a"


async def test_a_run_that_has_ended_is_left_whatever_became_of_its_workflow(kind: str, tmp_path: Path) -> None:
    """It is as it was, has changed, or is there no more: nothing is loaded for what nobody drives, and none is told.

    A run ends when it ends: one that ended a moment before somebody asked to drive it is no mistake of theirs.
    """
    old, new = chain(double), chain(double, say)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = (await engine.run(old, Job(5))).run_id
    for handed in ([old], [new], []):
        async with opened(kind, tmp_path / "state", workflows=handed) as engine:
            before = engine.reader.log.head()
            await engine.drive(run_id)
            assert (await engine.wait(run_id)).status == "completed"
            assert engine.reader.log.head() == before
