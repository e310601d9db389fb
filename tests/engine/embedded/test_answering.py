"""Answers that the facts overtake between being read and being decided."""

from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from runwright import AsyncEngine, ConflictError, Context, Json, JsonObject, Workflow
from support.sound import check_sound


@frozen
class Verdict:
    """What somebody says."""

    word: str


def asking() -> Workflow[JsonObject]:
    """Asks, and is done."""
    workflow = Workflow("asking", input=JsonObject)

    @workflow.checkpoint(summary="May it go on?", returns=Verdict)
    def ask(ctx: Context[JsonObject]) -> Json:
        return {"of": ctx.run_id}

    workflow.entry(ask)
    return workflow


async def test_a_resume_after_the_look_lets_no_unchecked_answer_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A paused run's answer is checked like any other: it may be resumed before the answer is decided."""
    async with AsyncEngine.open(tmp_path / "home") as engine:
        run_id = (await engine.run(asking(), {})).run_id
        (request,) = await engine.requests(run_id)
        await engine.pause(run_id)
        look = engine._answering.command

        async def overtaken(*args: Any) -> Any:
            command = await look(*args)
            await engine.resume(run_id)
            return command

        monkeypatch.setattr(engine._answering, "command", overtaken)
        with pytest.raises(ConflictError) as refused:
            await engine.answer(request.request_id, {"word": 7})
        assert refused.value.code == "paused"
        await engine.answer(request.request_id, {"word": "yes"})
        assert (await engine.wait(run_id)).output == {"word": "yes"}
    check_sound(tmp_path / "home")


async def test_an_answer_to_a_cancelled_run_is_told_so_whatever_its_form(tmp_path: Path) -> None:
    """Nobody reads what it says: a value of the node's type and one that would not fit are refused alike."""
    async with AsyncEngine.open(tmp_path / "home") as engine:
        run_id = (await engine.run(asking(), {})).run_id
        (request,) = await engine.requests(run_id)
        await engine.cancel(run_id)
        for answer in (Verdict("yes"), 7, object()):
            with pytest.raises(ConflictError) as refused:
                await engine.answer(request.request_id, answer)
            assert refused.value.code == "already_terminal"
