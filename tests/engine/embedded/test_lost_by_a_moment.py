"""Commands that a run's end overtakes between a look at it and the command: what is said is true of the ended run."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from runwright import AsyncEngine, CallableAgent, ConflictError, Context, Json, JsonObject, Workflow
from runwright.engine.commands.client import CancelRun
from support.sound import check_sound

AGENTS = {"default": CallableAgent(lambda request: "yes")}


def reviewed() -> Workflow[JsonObject]:
    """Asks a person, and then an executor."""
    workflow = Workflow("reviewed", input=JsonObject)

    @workflow.checkpoint(summary="May it go on?", returns=str)
    def ask(ctx: Context[JsonObject]) -> Json:
        return None

    @workflow.agent
    def tell(ctx: Context[JsonObject]) -> str:
        return "?"

    workflow.entry(ask)
    workflow.then(ask, tell)
    return workflow


async def waiting(home: Path) -> str:
    """A run that its engine has left at its checkpoint."""
    async with AsyncEngine.open(home, agents=AGENTS) as engine:
        return (await engine.run(reviewed(), {})).run_id


def cancelled_while(engine: AsyncEngine, run_id: str, at: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have somebody cancel a run while something is looked up for a command about it."""
    look: Callable[..., Awaitable[Any]] = getattr(at, name)

    async def overtaken(*args: Any, **kwargs: Any) -> Any:
        await engine.cancel(run_id)
        return await look(*args, **kwargs)

    monkeypatch.setattr(at, name, overtaken)


@pytest.mark.parametrize("agents", [{}, AGENTS], ids=["lacking", "whole"])
async def test_a_resume_says_that_the_run_has_ended(
    agents: dict[str, CallableAgent], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not what it would need to go on, whether its executor is here or not."""
    run_id = await waiting(tmp_path)
    async with AsyncEngine.open(tmp_path, workflows=[reviewed()], agents=agents) as engine:
        await ends_in_a_resume(engine, run_id, monkeypatch)


async def test_a_resume_of_a_queued_run_does_not_say_that_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that nobody drove yet is cancelled before it is taken."""
    async with AsyncEngine.open(tmp_path, agents=AGENTS) as engine:
        run_id = await engine.start(reviewed(), {}, drive=False)
        await ends_in_a_resume(engine, run_id, monkeypatch)


async def ends_in_a_resume(engine: AsyncEngine, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Resume a run that is cancelled while its program is looked up."""
    cancelled_while(engine, run_id, engine._code, "load", monkeypatch)
    with pytest.raises(ConflictError) as refused:
        await engine.resume(run_id)
    assert (refused.value.code, refused.value.evidence["outcome"]) == ("already_terminal", "cancelled")
    assert not engine._driving.taken(run_id)


async def test_a_drive_leaves_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it leaves one that ended long before, whatever that would lack."""
    run_id = await waiting(tmp_path)
    async with AsyncEngine.open(tmp_path, workflows=[reviewed()]) as engine:
        cancelled_while(engine, run_id, engine._code, "load", monkeypatch)
        await engine.drive(run_id)
        assert (await engine.wait(run_id)).status == "cancelled"


async def test_an_answer_is_not_corrected_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that would not fit is told that nobody waits for it any more."""
    run_id = await waiting(tmp_path)
    async with AsyncEngine.open(tmp_path, workflows=[reviewed()], agents=AGENTS) as engine:
        (request,) = await engine.requests(run_id)
        cancelled_while(engine, run_id, engine._code, "answer", monkeypatch)
        with pytest.raises(ConflictError) as refused:
            await engine.answer(request.request_id, 7)
        assert refused.value.code == "already_terminal"


async def test_a_restart_of_a_run_that_ends_a_moment_later_is_refused_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was live when it was asked: no new run is queued without a check of what that needs."""
    run_id = await waiting(tmp_path)
    async with AsyncEngine.open(tmp_path, workflows=[reviewed()]) as engine:
        provide = engine._launcher.provide

        def overtaken(*args: Any) -> None:
            engine._holder.transitions.command(engine._identity.caller(None), CancelRun(run_id=run_id)).result()
            provide(*args)

        monkeypatch.setattr(engine._launcher, "provide", overtaken)
        for at in (None, "ask"):
            with pytest.raises(ConflictError) as refused:
                await engine.restart(run_id, at=at)
            assert refused.value.code == "still_live"
        assert [each.run_id for each in engine.reader.runs().items] == [run_id]
    check_sound(tmp_path)


async def test_who_steers_a_run_that_was_answered_meanwhile_hears_where_its_work_goes_on(tmp_path: Path) -> None:
    """An answer ends the run that asked; whoever looked a moment before means the work, and is told where it is."""
    run_id = await waiting(tmp_path)
    async with AsyncEngine.open(tmp_path, workflows=[reviewed()], agents=AGENTS) as engine:
        (request,) = await engine.requests(run_id)
        child = (await engine.answer(request.request_id, "yes", drive=False)).run_id
        for steer in (engine.pause, engine.resume, engine.cancel):
            with pytest.raises(ConflictError, match=f"run {child} carries it on") as refused:
                await steer(run_id)
            assert refused.value.code == "already_terminal"
            assert f"runwright status {child}" in refused.value.hint
