"""How a host ends workers: the silent, the late, the cancelled, and those that do not die; played by the tests."""

import asyncio
from pathlib import Path

import pytest
from attrs import evolve

from runwright.engine.commands.client import CancelRun, ResumeRun
from runwright.engine.commands.worker import (
    BeginEffect,
    CompleteRun,
    ExitWorker,
    FinishNode,
    ParkRun,
    ReserveEffect,
    StartNode,
    UpdateNode,
)
from runwright.engine.host import supervision
from runwright.engine.wire.errors import FrameRefused
from runwright.engine.worker.messages import Renew
from support.graphs import graph, node
from support.scripted_workers import ScriptedChild, scene

FLOW = graph(node("one"), node("manual", "action", contract="manual"))
START = StartNode(path="one", visit=1, attempt=1)
FINISH = FinishNode(path="one", visit=1, attempt=1, outcome="completed", output=1)


async def silent(child: ScriptedChild) -> None:
    """Take the envelope and say nothing more."""
    await child.told.get()
    await child.gone.wait()


async def test_a_worker_that_is_never_ready_is_put_back_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host ended it: queued again, then failed."""
    monkeypatch.setattr(supervision, "START_UP", 0.02)
    monkeypatch.setattr(supervision, "HEARING", 0.02)
    async with scene(tmp_path) as at:
        at.queue(FLOW)
        for _ in range(2):
            await at.launch(silent)
            assert at.stands() == ("queued", None, True)
        await at.launch(silent)
        assert at.run().code == "activation_failed"


async def test_a_silent_worker_is_ended_when_its_lease_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed and waited for, then judged; one that renews lives on."""
    monkeypatch.setattr(supervision, "HEARING", 0.02)

    async def falls_silent(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(START)
        for _ in range(3):
            await asyncio.sleep(0.2)
            child.say(Renew(**child.head()))  # type: ignore[arg-type]
        await child.applied(UpdateNode(path="one", visit=1, attempt=1, key="k", update=1))
        await child.gone.wait()

    async with scene(tmp_path) as at:
        at.holder.transitions.leases._seconds = 0.4
        at.queue(FLOW)
        await at.launch(falls_silent)
        assert at.stands() == ("parked", "worker_crashed", True)
        assert at.workers()[0].outcome == "timed_out"


async def test_a_node_that_overruns_its_deadline_ends_with_its_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something in it blocks the whole worker: the attempt is timed out, and the next worker routes from that."""
    monkeypatch.setattr(supervision, "DEADLINE_GRACE", 0.02)
    monkeypatch.setattr(supervision, "HEARING", 0.02)

    async def blocks(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(evolve(START, deadline=at.holder.clock.now() + 20_000))
        await child.gone.wait()

    async def routes(child: ScriptedChild) -> None:
        state = await child.begin()
        assert state.nodes["one"].outcome == "timed_out"
        await child.leave(ParkRun(reason="paused"), outcome="parked")

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        assert await at.launch(blocks, routes) == ["timed_out", "parked"]


async def test_a_cancelled_run_takes_its_worker_with_it(tmp_path: Path) -> None:
    """After the commit the worker is ended; it says nothing any more."""
    began = asyncio.Event()

    async def works(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(START)
        began.set()
        await child.gone.wait()

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        launched = at.begin(works)
        await began.wait()
        at.ask(CancelRun(run_id="run-1"))
        launched.cancel()
        assert await launched == "claim_lost"
        await at.played()
        assert at.run().status == "cancelled"
        assert [each.outcome for each in at.workers()] == ["claim_lost"]


async def test_a_launch_that_lost_against_a_cancel_starts_nothing(tmp_path: Path) -> None:
    """The claim is refused, and the child that was to have it goes."""
    async with scene(tmp_path) as at:
        at.queue(FLOW)
        at.ask(CancelRun(run_id="run-1"))
        launched = at.begin(lambda child: child.gone.wait())
        assert await launched is None
        assert at.children[0].ends == 1
        assert at.workers() == []


async def test_a_host_that_stops_lets_its_workers_park(tmp_path: Path) -> None:
    """Each is told, at its next boundary it says so itself, and nothing more is launched."""
    began = asyncio.Event()

    async def parks(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(START)
        began.set()
        await child.stop()
        await child.leave(ParkRun(reason="host_stopped"), outcome="parked")

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        launched = at.begin(parks)
        await began.wait()
        at.launcher.stop()
        assert await launched == "parked"
        assert at.stands() == ("parked", "host_stopped", True)
        assert await at.launcher.launch("run-1", None) is None


async def test_a_worker_that_does_not_stop_is_an_orphan_of_its_host(tmp_path: Path) -> None:
    """The drain is over: it is ended, and its run goes on under the next host."""
    began = asyncio.Event()

    async def goes_on(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(START)
        began.set()
        await child.gone.wait()

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        launched = at.begin(goes_on)
        await began.wait()
        at.launcher.stop()
        launched.cancel()
        assert await launched == "orphaned"
        assert at.stands() == ("parked", "orphaned", True)


async def test_a_worker_that_does_not_die_keeps_its_run_from_everybody(tmp_path: Path) -> None:
    """Parked by name; a resume meets it again; once it is gone, its effect is judged."""

    async def never_dies(child: ScriptedChild) -> None:
        child.dies = False
        await child.begin()
        start = StartNode(path="manual", visit=1, attempt=1)
        await child.applied(
            start, ReserveEffect(path="manual", visit=1, request=None), BeginEffect(path="manual", visit=1)
        )
        child.say(FrameRefused("is no JSON"))

    async with scene(tmp_path) as at:
        at.queue(graph(node("manual", "action", contract="manual")))
        await at.launch(never_dies)
        assert at.stands() == ("parked", "worker_unkillable", False)
        at.ask(ResumeRun(run_id="run-1"))
        assert await at.launcher.launch("run-1", None) is None
        assert at.stands() == ("parked", "worker_unkillable", False)
        assert len(at.children) == 1
        at.children[0].exit(-9)
        await at.settled()
        assert at.stands() == ("parked", "effect_ambiguous", False)


async def test_a_worker_that_does_not_exit_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own word about its end stands."""
    monkeypatch.setattr(supervision, "EXIT_GRACE", 0.02)
    monkeypatch.setattr(supervision, "HEARING", 0.02)

    async def lingers(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(START)
        await child.applied(FINISH, CompleteRun(), ExitWorker(outcome="finished"))
        await child.gone.wait()

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        assert await at.launch(lingers) == ["finished"]
        assert at.run().status == "completed"
