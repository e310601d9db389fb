"""What a program around an engine may do to it: fork, interrupt, call from the wrong place, read beside it."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from runwright import AsyncEngine, Context, Engine, JsonObject, StoreInUse, Workflow, seconds
from runwright.engine.embedded.errors import WrongThread
from runwright.engine.progress import A_SECOND, BURST
from runwright.engine.reading.reader import Reader
from runwright.eventstore.errors import Forked, StoreError


def single(function: Any) -> Workflow[JsonObject]:
    """A workflow of one compute node."""
    workflow: Workflow[JsonObject] = Workflow("single")
    workflow.entry(workflow.compute(name="node")(function))
    return workflow


def test_after_a_fork_every_call_raises(tmp_path: Path) -> None:
    """A child that only inherited the engine is refused, and the parent goes on undisturbed."""
    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.start(single(lambda ctx: 1), {})
        engine.wait(run_id)
        child = os.fork()
        if child == 0:
            refused = 0
            calls = (
                lambda: engine.status(run_id),
                lambda: engine.start(single(lambda ctx: 1), {}),
                lambda: engine.cancel(run_id),
                lambda: engine.events(),
                lambda: engine.close(),
            )
            for call in calls:
                try:
                    call()
                except Forked:
                    refused += 1
            os._exit(0 if refused == len(calls) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert engine.run(single(lambda ctx: 2), {}).output == 2
        assert engine.verify().ok


def test_an_asynchronous_node_cannot_block_on_its_own_engine(tmp_path: Path) -> None:
    """A blocking call from the engine's own loop would wait for itself, and is refused instead."""
    with Engine.open(tmp_path / "state") as engine:
        refused: list[str] = []

        async def nested(ctx: Context[JsonObject]) -> int:
            try:
                engine.wait(ctx.run_id)
            except WrongThread as error:
                refused.append(error.code)
            return 1

        assert engine.run(single(nested), {}).output == 1
        assert refused == ["wrong_thread"]


def test_a_plain_node_may_start_another_run(tmp_path: Path) -> None:
    """Plain functions run in threads and may use the engine."""
    with Engine.open(tmp_path / "state") as engine:
        inner = single(lambda ctx: 7)
        outer = single(lambda ctx: engine.run(inner, {}).output)
        assert engine.run(outer, {}).output == 7


def test_an_interrupt_leaves_the_run_resumable(tmp_path: Path) -> None:
    """Ctrl-C in `run` leaves the wait; the run stops at its boundary with the engine and goes on later."""
    begun, opened = threading.Event(), threading.Event()
    workflow: Workflow[JsonObject] = Workflow("two")

    @workflow.compute
    def first(ctx: Context[JsonObject]) -> int:
        begun.set()
        assert opened.wait(30)
        return 1

    @workflow.compute
    def second(ctx: Context[JsonObject]) -> int:
        return ctx.output(first) + 1

    workflow.entry(first)
    workflow.then(first, second)

    def interrupt() -> None:
        assert begun.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    with Engine.open(tmp_path / "state") as engine:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            engine.run(workflow, {})
        (run,) = engine.query("runs").items
        opened.set()
        assert engine.wait(str(run["run_id"])).output == 2


def test_a_reader_beside_the_holder(tmp_path: Path) -> None:
    """Another process reads what runs, and is told who holds the store when it wants to write."""
    gate = threading.Event()
    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.start(single(lambda ctx: gate.wait(30)), {})
        while engine.status(run_id).node is None:
            time.sleep(0.001)
        script = (
            "import sys, pathlib\n"
            "from runwright.engine.reading.reader import Reader\n"
            "from runwright import Engine, StoreInUse\n"
            "home = pathlib.Path(sys.argv[1])\n"
            "with Reader.open(home) as reader:\n"
            "    print(reader.status(sys.argv[2]).status, len(reader.runs().items))\n"
            "try:\n"
            "    Engine.open(home)\n"
            "except StoreInUse as error:\n"
            "    print(error.pid)\n"
        )
        answer = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "state"), run_id],
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stdout.splitlines() == ["running 1", str(os.getpid())]
        gate.set()
        assert engine.wait(run_id).output is True


def test_a_reader_after_the_holder(tmp_path: Path) -> None:
    """Without a holder the store is read as it is, and nothing claims that somebody is at work."""
    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.start(single(lambda ctx: 1), {}, drive=False)
    with Reader.open(tmp_path / "state") as reader:
        status = reader.status(run_id)
        assert (status.status, status.next) == ("queued", (f"runwright resume {run_id}",))
        assert reader.find_run(run_id[-6:]) == run_id
        assert reader.find_run("@last") == run_id


def test_waiting_for_the_lock(tmp_path: Path) -> None:
    """`wait_lock` waits for the other holder to close."""
    holder = Engine.open(tmp_path / "state")
    with pytest.raises(StoreInUse):
        Engine.open(tmp_path / "state", wait_lock=0.05)
    threading.Timer(0.1, holder.close).start()
    with Engine.open(tmp_path / "state", wait_lock=30) as engine:
        assert engine.events(types=["host.*"])


def test_progress_is_durable_and_bounded(tmp_path: Path) -> None:
    """Updates reach the log while the node runs; when they come too fast the newest of a key wins."""
    reached = threading.Event()

    def work(ctx: Context[JsonObject]) -> int:
        for number in range(500):
            ctx.update(completed=number, total=500)
        ctx.update("other", message="done")
        assert reached.wait(30)
        return 1

    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.start(single(work), {})
        with engine.follow(0) as events:
            for event in events:
                if event.type == "node.updated" and '"other"' in event.data:
                    break
        reached.set()
        engine.wait(run_id)
        updates = engine.events(run_id, types=["node.updated"])
        (began,) = engine.events(run_id, types=["run.started"])
        allowed = BURST + A_SECOND * (updates[-1].at - began.at) / 1_000_000
        assert 0 < len(updates) <= allowed + 2, "the newest of each name comes with the end, whatever is allowed"
        newest = [each.event.update for each in updates if '"overall"' in each.data][-1]  # type: ignore[attr-defined]
        assert newest.value["completed"] == 499


def test_a_function_that_outlives_its_limit_holds_its_run_back(tmp_path: Path) -> None:
    """A plain function cannot be stopped: its attempt ends in time, and the next node waits for it."""
    order: list[str] = []
    opened = threading.Event()
    workflow: Workflow[JsonObject] = Workflow("slow")

    @workflow.compute(timeout=0.05)
    def stuck(ctx: Context[JsonObject]) -> int:
        assert opened.wait(30)
        order.append("stuck returned")
        return 1

    @workflow.compute
    def after(ctx: Context[JsonObject]) -> int:
        order.append("after began")
        return 2

    workflow.entry(stuck)
    workflow.catch(stuck, after)
    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.start(workflow, {})
        while not engine.events(run_id, types=["node.finished"]):
            time.sleep(0.001)
        opened.set()
        assert engine.wait(run_id).output == 2
    assert order == ["stuck returned", "after began"]


def test_private_values_stay_out_of_what_is_shown(tmp_path: Path) -> None:
    """Neither status nor outcome nor the errors of a failed run hold what the run was given."""
    canary = "canary-7d1f"

    def fail(ctx: Context[JsonObject]) -> int:
        raise RuntimeError(f"{canary} in an exception")

    with Engine.open(tmp_path / "state") as engine:
        outcome = engine.run(single(fail), {"secret": canary})
        assert outcome.status == "failed"
        shown = [repr(outcome), str(outcome.error), str(engine.status(outcome.run_id).document())]
        shown += [str(engine.query(name).items) for name in ("runs", "queue", "visits", "terminal", "workers")]
        shown += [event.data for event in engine.events()]
        assert not [each for each in shown if canary in each]


async def test_an_engine_on_a_closing_loop_ends_cleanly(tmp_path: Path) -> None:
    """Leaving the block while runs are under way puts them away before the loop ends."""
    begun = asyncio.Event()

    async def endless(ctx: Context[JsonObject]) -> int:
        begun.set()
        await asyncio.sleep(3600)
        return 1

    async with AsyncEngine.open(tmp_path / "state") as engine:
        run_id = await engine.start(single(endless), {})
        await begun.wait()
        await engine.close(grace=0)
    with Reader.open(tmp_path / "state") as reader:
        status = reader.status(run_id)
        assert (status.status, status.reason and status.reason.code) == ("queued", "orphaned")
        assert reader.head().position == next(event.position for event in reader.events(types=["host.stopped"]))


def test_a_store_that_fails_is_told_to_everybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the writer gave up, waiting ends and every further call raises."""
    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.start(single(lambda ctx: 1), {})
        engine.wait(run_id)
        (tmp_path / "state" / "log.sqlite-wal").rename(tmp_path / "state" / "elsewhere")
        with pytest.raises(StoreError):
            engine.run(single(lambda ctx: 2), {})
        with pytest.raises(StoreError):
            engine.run(single(lambda ctx: 2), {})


@pytest.mark.parametrize("how", ["stop", "exit", "interrupt"])
def test_a_node_cannot_end_the_loop_of_the_engine(tmp_path: Path, how: str) -> None:
    """What a node leaves on the loop may stop it or let SystemExit out: nobody waits for ever, the run goes on."""

    def leave() -> None:
        raise SystemExit(3) if how == "exit" else KeyboardInterrupt

    async def hostile(ctx: Context[JsonObject]) -> int:
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.stop if how == "stop" else leave)
        await asyncio.sleep(0.01)
        return 1

    with Engine.open(tmp_path / "state") as engine:
        outcome = engine.run(single(hostile), {}, timeout=60)
        assert (outcome.status, outcome.output) == ("completed", 1)


def test_a_store_that_is_gone_is_told_to_whoever_waits_for_a_timer(tmp_path: Path) -> None:
    """Its file is moved away while nothing but a timer moves the run: the wait ends with the reason."""
    workflow: Workflow[JsonObject] = Workflow("waits")
    workflow.entry(workflow.wait("nap", seconds(1)))
    home = tmp_path / "state"
    with Engine.open(home) as engine:
        run_id = engine.start(workflow, {})
        while engine.status(run_id).status != "waiting":
            time.sleep(0.001)
        (home / "log.sqlite").rename(home / "elsewhere")
        with pytest.raises(StoreError):
            engine.wait(run_id, timeout=60)


def test_a_node_may_change_the_folder_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that was opened by a relative name stays where it is."""
    monkeypatch.chdir(tmp_path)

    def elsewhere(ctx: Context[JsonObject]) -> str:
        os.chdir("/")
        return str(ctx.scratch)

    with Engine.open("state") as engine:
        assert Path(str(engine.run(single(elsewhere), {}).output)).is_relative_to(tmp_path / "state")
        assert engine.run(single(lambda ctx: 2), {}).output == 2
        assert engine.verify().ok
