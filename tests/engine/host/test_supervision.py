"""What a host does with its workers, good and bad: their parts are played by the tests."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest
from attrs import evolve

from runwright.engine.commands.client import CancelRun, ResumeRun
from runwright.engine.commands.worker import (
    Authority,
    BeginEffect,
    CompleteRun,
    ExitWorker,
    FinishNode,
    ParkRun,
    RegisterProcess,
    ReserveEffect,
    StartNode,
    UpdateNode,
    WorkerTransition,
)
from runwright.engine.host import launcher, rules, supervision
from runwright.engine.wire.errors import FrameRefused
from runwright.engine.worker.messages import Exiting, FromChild, Renew, Resolved, SayReady, Transact
from runwright.eventstore.errors import StoreFull
from runwright.projections.control.processes import PROCESSES
from runwright.projections.sql_rows import SqlRows
from support.graphs import graph, node
from support.scripted_workers import Script, ScriptedChild, scene
from support.stage import PROCESS

FLOW = graph(node("one"), node("manual", "action", contract="manual"))
START = StartNode(path="one", visit=1, attempt=1)
FINISH = FinishNode(path="one", visit=1, attempt=1, outcome="completed", output=1)


async def finishes(child: ScriptedChild) -> None:
    """Carry the whole run out."""
    await child.begin()
    await child.applied(START)
    await child.leave(FINISH, CompleteRun(), outcome="finished")


async def vanishes_early(child: ScriptedChild) -> None:
    """Exit before anything was said."""
    await child.told.get()
    child.exit(1)


async def vanishes_ready(child: ScriptedChild) -> None:
    """Exit right after the command."""
    await child.begin()
    child.exit(9)


async def vanishes_in_node(child: ScriptedChild) -> None:
    """Exit in the first node."""
    await child.begin()
    answer = await child.transact(START)
    assert answer.results[0].kind in ("applied", "adopted")
    child.exit(-9)


async def test_a_run_is_carried_out(tmp_path: Path) -> None:
    """Envelope, ready, command, transitions, exit; the claim names the worker's own process."""
    async with scene(tmp_path) as at:
        at.queue(FLOW)
        assert await at.launch(finishes) == ["finished"]
        assert at.run().status == "completed"
        (worker,) = at.workers()
        assert (worker.state, worker.outcome) == ("exited", "finished")
        assert worker.pid == at.children[0].identity.pid
        launch = at.children[0].launch
        assert launch is not None
        assert (launch.progress, launch.began) == (0, False)


async def test_a_launch_that_vanishes_by_itself_fails(tmp_path: Path) -> None:
    """S14, S51 b: before ready, never started."""
    async with scene(tmp_path) as at:
        at.queue(FLOW)
        await at.launch(vanishes_early)
        assert (at.run().status, at.run().code) == ("failed", "activation_failed")


async def test_a_worker_that_vanishes_before_anything_is_saved_is_launched_once(tmp_path: Path) -> None:
    """S51: ready, then gone: the run waits for somebody, and the reason names how it ended."""
    async with scene(tmp_path) as at:
        at.queue(FLOW)
        await at.launch(vanishes_ready)
        assert at.stands() == ("parked", "worker_no_progress", False)
        assert "exit code 9" in (at.detail() or "")


async def test_a_node_that_kills_its_worker_is_launched_twice_at_most(tmp_path: Path) -> None:
    """C18 a: the start of the node was progress, once; one explicit resume gives one more launch."""
    async with scene(tmp_path) as at:
        at.queue(FLOW)
        await at.launch(vanishes_in_node)
        assert at.stands() == ("parked", "worker_crashed", True)
        await at.launch(vanishes_in_node)
        assert at.stands() == ("parked", "worker_no_progress", False)
        assert "at one" in (at.detail() or "")
        assert "signal 9" in (at.detail() or "")
        at.ask(ResumeRun(run_id="run-1"))
        await at.launch(vanishes_in_node)
        assert len(at.workers()) == 3


async def test_a_repeated_message_gets_the_answer_that_it_got(tmp_path: Path) -> None:
    """Nothing is decided twice; a repeated ready gets its command."""

    async def repeats(child: ScriptedChild) -> None:
        await child.begin()
        head = child.head()
        for _ in range(2):
            child.say(Transact(**head, transitions=(START,)))  # type: ignore[arg-type]
        answers = [await child.told.get(), await child.told.get()]
        assert answers[0] == answers[1]
        child.say(SayReady(**{**head, "id": 1}))  # type: ignore[arg-type]
        await child.told.get()
        await child.leave(FINISH, CompleteRun(), outcome="finished")

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        assert await at.launch(repeats) == ["finished"]


def says(*messages: Callable[[ScriptedChild], FromChild | FrameRefused]) -> Script:
    """A worker that says something it should not, in its first node, and lives on."""

    async def script(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(START)
        for each in messages:
            child.say(each(child))
        await child.gone.wait()

    return script


def wrong(**facts: object) -> Callable[[ScriptedChild], FromChild]:
    """A message with something false in it."""
    return lambda child: Transact(**{**child.head(), **facts}, transitions=())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("script", "named"),
    [
        (says(lambda _: FrameRefused("is no JSON")), "a frame is no json"),
        (says(wrong(worker="another")), "another worker"),
        (says(wrong(run_id="another")), "another worker"),
        (says(wrong(generation=7)), "another generation"),
        (says(lambda _: Resolved(answer={})), "nobody asked"),
        (says(*[lambda child: Renew(**child.head())] * 100), "far more messages"),
    ],
    ids=["malformed", "worker", "run", "generation", "resolver", "flood"],
)
async def test_a_worker_that_breaks_the_rules_is_stopped_by_name(tmp_path: Path, script: Script, named: str) -> None:
    """The run parks with `protocol_rejected`, and the host goes on."""
    async with scene(tmp_path) as at:
        at.queue(FLOW)
        await at.launch(script)
        assert at.stands() == ("parked", "protocol_rejected", False)
        assert named in (at.detail() or "")
        assert at.children[0].ends == 1


async def test_a_flood_of_transitions_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far more than a run can need."""
    monkeypatch.setattr(rules, "MESSAGES_AT_ONCE", 5.0)
    monkeypatch.setattr(rules, "MESSAGES_A_SECOND", 0.001)
    update = UpdateNode(path="one", visit=1, attempt=1, key="k", update=1)

    async def floods(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(START)
        for _ in range(10):
            child.say(Transact(**child.head(), transitions=(update,)))  # type: ignore[arg-type]
        await child.gone.wait()

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        await at.launch(floods)
        assert at.stands() == ("parked", "protocol_rejected", False)


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


async def test_what_a_vanished_worker_had_named_is_struck_out(tmp_path: Path) -> None:
    """Also where its own word about its end stands already."""
    process = evolve(PROCESS, pid=7)

    async def names(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(START, RegisterProcess(process=process))
        await child.leave(ParkRun(reason="paused"), outcome="parked")

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        assert await at.launch(names) == ["parked"]
        with at.holder.log.snapshot() as snapshot:
            assert SqlRows(snapshot.connection).find(PROCESSES) == []


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


async def test_a_worker_says_what_stopped_it(tmp_path: Path) -> None:
    """Its last words, where it could not say them in a transition."""

    async def gives_up(child: ScriptedChild) -> None:
        await child.begin()
        await child.applied(START)
        child.say(Exiting(**child.head(), outcome="crashed", problem="it raised OSError"))  # type: ignore[arg-type]
        child.exit(1)

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        await at.launch(gives_up)
        assert at.stands() == ("parked", "worker_crashed", True)
        assert "it raised OSError" in (at.detail() or "")


async def test_a_store_that_cannot_take_a_claim_is_asked_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child that was to have the run goes, and the run keeps its place."""
    monkeypatch.setattr(launcher, "RECORD_PAUSE", 0.01)

    def full(*_: object) -> object:
        raise StoreFull(tmp_path)

    async with scene(tmp_path) as at:
        at.queue(FLOW)
        with monkeypatch.context() as patched:
            patched.setattr(at.holder.transitions, "host", full)
            assert await at.begin(lambda child: child.gone.wait()) is None
        assert at.children[0].ends == 1
        assert await at.launch(finishes) == ["finished"]


async def test_a_store_that_cannot_take_a_step_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C67: the worker waits for its answer, its lease is kept, and nothing of it is lost."""
    monkeypatch.setattr(supervision, "STORE_PAUSE", 0.01)
    refusals = [1, 2, 3]

    async with scene(tmp_path) as at:
        decide = at.holder.transitions.worker

        def sometimes(authority: Authority, transitions: Sequence[WorkerTransition]) -> object:
            if refusals and isinstance(transitions[0], FinishNode):
                refusals.pop()
                failed: Future[object] = Future()
                failed.set_exception(StoreFull(tmp_path))
                return failed
            return decide(authority, transitions)

        monkeypatch.setattr(at.holder.transitions, "worker", sometimes)
        at.queue(FLOW)
        assert await at.launch(finishes) == ["finished"]
        assert refusals == []
