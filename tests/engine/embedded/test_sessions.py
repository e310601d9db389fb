"""Runs in sessions, in process: boundaries, and telling how runs ended (page 07, "Presentation")."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from runwright import AsyncEngine, Context, Engine, Workflow
from runwright.engine.embedded import instructions, presentation
from runwright.engine.errors import ConflictError, NotFound
from runwright.engine.results import Applied
from support.command_processes import LIMIT
from support.engine_session import attached
from support.engines import until


@frozen
class Job:
    """A number."""

    n: int


def doubling(**more: Any) -> Workflow[Job]:
    """A workflow of one node."""
    flow = Workflow("doubling", input=Job, **more)

    @flow.compute
    def double(ctx: Context[Job]) -> int:
        return 2 * ctx.input.n

    flow.entry(double)
    return flow


async def presented(engine: AsyncEngine, run_id: str, *states: str) -> str:
    """Wait until telling of a run's end is in one of some states."""

    async def there() -> bool:
        return (await engine.status(run_id)).presentation.state in states

    await until(there)
    return (await engine.status(run_id)).presentation.state


async def messages(engine: AsyncEngine) -> list[str]:
    """The messages there are."""
    return [str(row["message"]) for row in (await engine.query("messages")).items]


async def test_nothing_runs_before_the_boundary(tmp_path: Path) -> None:
    """S05: queued while the turn goes on; the boundary starts it, once; the message is plain."""
    async with AsyncEngine.open(tmp_path / "home") as engine:
        pi = await attached(engine)
        run_id = await engine.start(doubling(), Job(2), session="s1")
        await pi.report(idle=False)
        outcome = await engine.wait(run_id, until="waiting")
        assert outcome.status == "queued"
        with pytest.raises(ConflictError) as busy:
            await engine.start(doubling(), Job(2), session="s1")
        assert busy.value.code == "session_busy"
        assert f"run {run_id} of workflow doubling, queued 2" in busy.value.message
        assert (await engine.session_status("s1")).run_id == run_id
        await asyncio.gather(*(pi.settle() for _ in range(10)))
        assert (await engine.wait(run_id)).output == 4
        assert await presented(engine, run_id, "prepared") == "prepared"
        assert await messages(engine) == [f"terminal:{run_id}"]
        assert await pi.receive() == f"terminal:{run_id}"
        assert (await engine.session_status("s1")).run_id == run_id
        with pytest.raises(NotFound):
            await engine.session_status("s2")


async def test_instructions_are_worked_out_after_the_end(tmp_path: Path) -> None:
    """From input and result, in a thread; the end does not wait for them."""
    flow = doubling()
    seen: list[Any] = []

    @flow.presentation
    def tell(ctx: Context[Job], result: Any) -> str:
        time.sleep(0.2)
        seen.append((ctx.input.n, ctx.run_id, result))
        return f"Say {result}."

    async with AsyncEngine.open(tmp_path / "home") as engine:
        pi = await attached(engine)
        run_id = await engine.start(flow, Job(3), session="s1")
        await pi.settle()
        assert (await engine.wait(run_id)).output == 6
        assert (await engine.session_view("s1")).run is None
        await presented(engine, run_id, "prepared")
        assert seen == [(3, run_id, 6)]
        current = (await pi.view()).current
        assert current is not None
        assert current.message == f"terminal:{run_id}"
        message = await pi.receive()
        assert message == f"terminal:{run_id}"
        receipt = await pi.turn("t1", message, run_id)
        assert receipt.ownership == "active"


async def test_a_text_presents_without_a_function(tmp_path: Path) -> None:
    """It stands in the definition; no code is needed, and a headless run owes nothing."""
    async with AsyncEngine.open(tmp_path / "home") as engine:
        pi = await attached(engine)
        flow = doubling(presentation="Be brief.")
        headless = await engine.run(flow, Job(1))
        run_id = await engine.start(flow, Job(1), session="s1")
        await pi.settle()
        await presented(engine, run_id, "prepared")
        rows = (await engine.query("messages")).items
        assert [(row["message"], row["starts_turn"]) for row in rows] == [(f"terminal:{run_id}", True)]
        assert (await engine.status(headless.run_id)).presentation.state == "none"


class Unspeakable(Exception):
    """One whose own text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("secret-cause")


@pytest.mark.parametrize("fault", ["raises", "unspeakable", "slow", "no_text"])
async def test_a_presentation_that_fails_changes_nothing_else(
    tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S45: the end stands, the session is free, the failure is recorded, and the mended cause builds it once."""
    monkeypatch.setattr(instructions, "LIMIT", 0.2)
    flow = doubling()
    broken = [True]

    @flow.presentation
    def tell(ctx: Context[Job], result: Any) -> Any:
        if not broken[0]:
            return "Say it."
        if fault == "raises":
            raise RuntimeError("secret-cause")
        if fault == "unspeakable":
            raise Unspeakable
        if fault == "slow":
            time.sleep(1)
        return 7

    async with AsyncEngine.open(tmp_path / "home") as engine:
        pi = await attached(engine)
        run_id = await engine.start(flow, Job(3), session="s1")
        await pi.settle()
        assert (await engine.wait(run_id)).output == 6
        await presented(engine, run_id, "failed")
        status = await engine.status(run_id)
        assert (status.status, status.error) == ("completed", None)
        second = await engine.start(doubling(), Job(1), session="s1")
        await engine.cancel(second)
        failures = await engine.events(run_id, types=["presentation.failed"])
        assert not any("secret-cause" in each.data + (each.body or "") for each in failures)
        assert await messages(engine) == []
        broken[0] = False
        await presented(engine, run_id, "prepared")
        assert await messages(engine) == [f"terminal:{run_id}"]


async def test_only_a_few_presentations_are_worked_out_at_once(tmp_path: Path) -> None:
    """In a host they take places that starts need, too; the others wait in line and come to their turn."""
    flow, release, under_way, most = doubling(), threading.Event(), set[str](), [0]

    @flow.presentation
    def tell(ctx: Context[Job], result: Any) -> str:
        under_way.add(ctx.run_id)
        most[0] = max(most[0], len(under_way))
        release.wait(LIMIT)
        under_way.discard(ctx.run_id)
        return "Say it."

    async with AsyncEngine.open(tmp_path / "home") as engine:
        runs = []
        for number in range(2 * presentation.AT_ONCE):
            pi = await attached(engine, f"s{number}")
            runs.append(await engine.start(flow, Job(number), session=pi.session))
            await pi.settle()
            await engine.wait(runs[-1])
        await until(lambda: _are(under_way, presentation.AT_ONCE))
        release.set()
        for run_id in runs:
            await presented(engine, run_id, "prepared")
        assert most == [presentation.AT_ONCE]


async def _are(found: set[str], count: int) -> bool:
    return len(found) == count


async def test_the_next_holder_builds_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S46, T1: the end was committed and the message was not; a start builds it, and another one adds nothing."""

    async def never(self: presentation.Presenting, run_id: str) -> None:
        await asyncio.sleep(0)

    with monkeypatch.context() as patched:
        patched.setattr(presentation.Presenting, "_present", never)
        async with AsyncEngine.open(tmp_path / "home") as engine:
            pi = await attached(engine)
            run_id = await engine.start(doubling(), Job(3), session="s1")
            await pi.settle()
            await engine.wait(run_id)
            assert (await engine.status(run_id)).presentation.state == "pending"
            assert await messages(engine) == []
    for _ in range(2):
        async with AsyncEngine.open(tmp_path / "home") as engine:
            await presented(engine, run_id, "prepared")
            assert await messages(engine) == [f"terminal:{run_id}"]


async def test_a_function_that_nobody_can_load_fails_until_it_is_handed_in(tmp_path: Path) -> None:
    """The definition says that there is one; without it nothing is invented."""
    flow = doubling()

    @flow.presentation
    def tell(ctx: Context[Job], result: Any) -> str:
        raise RuntimeError

    async with AsyncEngine.open(tmp_path / "home") as engine:
        pi = await attached(engine)
        run_id = await engine.start(flow, Job(3), session="s1")
        await pi.settle()
        await presented(engine, run_id, "failed")
    again = doubling()

    @again.presentation
    def tell_it(ctx: Context[Job], result: Any) -> str:
        return "Say it."

    async with AsyncEngine.open(tmp_path / "home", workflows=[again]) as engine:
        await presented(engine, run_id, "prepared")


def test_the_blocking_engine_has_the_same(tmp_path: Path) -> None:
    """Start in a session, attach, report, follow up, ask."""
    from runwright.engine.commands.session import AttachSession, ReportSession

    with Engine.open(tmp_path / "home") as engine:
        view = engine.tell_session(AttachSession(session="s1", agent="pi")).value
        run_id = engine.start(doubling(), Job(4), session="s1")
        follow = engine.follow_up(run_id, "And then?", session="s1", epoch=view.epoch, key="k")
        assert isinstance(follow, Applied)
        engine.tell_session(ReportSession(session="s1", epoch=view.epoch, idle=True, nothing_pending=True))
        assert engine.wait(run_id).output == 8
        assert engine.session_status("s1").run_id == run_id
        assert engine.session_view("s1").epoch == view.epoch
