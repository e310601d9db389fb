"""Commands that somebody gives through an engine: in their own name, under their own key, with their own rights."""

from pathlib import Path

import pytest

from runwright import AsyncEngine, ConflictError, Context, Json, JsonObject, Workflow
from runwright.engine.commands.client import Caller
from runwright.engine.results import Adopted, Applied


def asking() -> Workflow[JsonObject]:
    """Asks a person, and is done."""
    workflow = Workflow("asking", input=JsonObject)

    @workflow.checkpoint(summary="May it go on?", protected=True)
    def ask(ctx: Context[JsonObject]) -> Json:
        return {"of": ctx.run_id}

    workflow.entry(ask)
    return workflow


def caller(key: str, *, person: bool = True) -> Caller:
    """A client with a name of its own."""
    client = "web" if person else "pi:one"
    return Caller(client=client, key=key, actor=f"client:{client}", person=person)


async def test_a_command_is_its_callers(tmp_path: Path) -> None:
    """Events and receipts name who asked, a repeat under the same key adopts, and the answer has the revision."""
    async with AsyncEngine.open(tmp_path) as engine:
        queued = await engine.queue(asking(), {}, caller=caller("1"))
        run_id = queued.value
        assert isinstance(queued, Applied)
        again = await engine.queue(asking(), {}, caller=caller("1"))
        assert (type(again), again.value) == (Adopted, run_id)
        await engine.wait(run_id, until="waiting")
        await engine.pause(run_id, caller=caller("2"))
        await engine.resume(run_id, caller=caller("3"))
        await engine.cancel(run_id, caller=caller("4"))
        restarted = await engine.queue_restart(run_id, caller=caller("5"), drive=False)
        assert (await engine.status(restarted.value)).revision == restarted.revision
        receipts = (await engine.query("receipts")).items
        assert {(row["client"], row["key"]) for row in receipts} == {("web", str(number)) for number in range(1, 6)}
        asked = ["run.queued", "run.pause_requested", "run.paused", "run.resumed", "run.cancelled"]
        assert {each.actor for each in await engine.events(run_id, types=asked)} == {"client:web"}


async def test_a_command_for_another_revision_is_refused(tmp_path: Path) -> None:
    """Whoever decided on facts that have changed since is told so, and nothing is written."""
    async with AsyncEngine.open(tmp_path) as engine:
        run_id = await engine.start(asking(), {})
        await engine.wait(run_id, until="waiting")
        revision = (await engine.status(run_id)).revision
        commands = [engine.pause, engine.cancel]
        for command in commands:
            with pytest.raises(ConflictError) as refused:
                await command(run_id, expected=revision - 1)
            assert refused.value.code == "revision_changed"
        paused = await engine.pause(run_id, expected=revision)
        with pytest.raises(ConflictError):
            await engine.resume(run_id, expected=revision)
        resumed = await engine.resume(run_id, expected=paused.revision)
        ended = await engine.cancel(run_id, expected=resumed.revision)
        with pytest.raises(ConflictError):
            await engine.queue_restart(run_id, expected=resumed.revision)
        assert isinstance(await engine.queue_restart(run_id, expected=ended.revision, drive=False), Applied)


async def test_a_model_may_less_than_a_person(tmp_path: Path) -> None:
    """A protected checkpoint is answered by no model, whoever holds the engine."""
    async with AsyncEngine.open(tmp_path) as engine:
        run_id = await engine.start(asking(), {})
        await engine.wait(run_id, until="waiting")
        (request,) = await engine.requests(run_id)
        with pytest.raises(ConflictError) as refused:
            await engine.answer(request.request_id, "yes", caller=caller("1", person=False))
        assert refused.value.code == "human_required"
        answered = await engine.answer(request.request_id, "yes", caller=caller("1"), drive=False)
        assert answered.revision == (await engine.status(answered.run_id)).revision
