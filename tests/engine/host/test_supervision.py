"""What a host hears of its workers and answers them, good and bad: their parts are played by the tests."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest
from attrs import evolve

from runwright.engine.commands.client import ResumeRun
from runwright.engine.commands.worker import (
    Authority,
    CompleteRun,
    FinishNode,
    ParkRun,
    RegisterProcess,
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
