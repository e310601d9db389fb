"""Candidates that outlive whoever handed them in: the caller, the engine, a check that died."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from runwright import AnswerRejected, AsyncEngine, Context, InputInvalid, Json, JsonObject, Request, Workflow
from runwright.engine.commands.client import Caller, SubmitAnswer
from runwright.engine.embedded.local_code import LocalCode
from runwright.engine.errors import ActivationFailed, WorkflowNotFound
from runwright.eventstore.errors import StoreClosed
from support.engine_session import EngineSession, attached
from support.engines import until
from support.sound import check_sound

MODEL = Caller(client="pi:s1", key="k", actor="client:pi:s1", person=False)
SOFT: Json = {"word": "soft"}


@frozen
class Verdict:
    """What the agent says."""

    word: str


def asking() -> Workflow[JsonObject]:
    """Asks its session."""
    flow: Workflow[JsonObject] = Workflow("asking", input=JsonObject)

    @flow.agent(returns=Verdict)
    def ask(ctx: Context[JsonObject]) -> str:
        return "Say a word."

    flow.entry(ask)
    return flow


async def begun(engine: AsyncEngine, flow: Workflow[JsonObject]) -> tuple[EngineSession, str, Request]:
    """A run that waits for its session."""
    pi = await attached(engine)
    run_id = await engine.start(flow, {}, session="s1")
    await pi.settle()
    await engine.wait(run_id, until="asked")
    (request,) = await engine.requests(run_id)
    return pi, run_id, request


async def state(engine: AsyncEngine) -> tuple[Any, ...]:
    """How the only request stands."""
    (row,) = (await engine.query("requests")).items
    return row["state"], row["refused"], row["crashed"]


async def test_a_caller_that_gives_up_withdraws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check goes on without it, and its repeat hears the verdict."""
    released, answer = asyncio.Event(), LocalCode.answer

    async def slow(self: LocalCode, *args: Any) -> Any:
        await released.wait()
        return await answer(self, *args)

    monkeypatch.setattr(LocalCode, "answer", slow)
    async with AsyncEngine.open(tmp_path / "home") as engine:
        pi, run_id, request = await begun(engine, asking())
        waiting = asyncio.ensure_future(
            engine.submit(request.request_id, SOFT, session="s1", epoch=pi.epoch, caller=MODEL)
        )
        await until(lambda: _is(engine, "validating"))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        again = [engine.submit(request.request_id, SOFT, session="s1", epoch=pi.epoch, caller=MODEL) for _ in range(3)]
        hearing = asyncio.gather(*again)
        released.set()
        assert {each.adopted for each in await hearing} == {True}
        assert (await engine.wait(run_id)).output == SOFT
        assert len(await engine.events(run_id, types=["request.submitted"])) == 1
    check_sound(tmp_path / "home")


async def test_the_next_engine_checks_what_the_last_one_did_not(tmp_path: Path) -> None:
    """It was recorded, and whoever submitted it hears the verdict under the same key."""
    flow = asking()
    async with AsyncEngine.open(tmp_path / "home") as engine:
        pi, run_id, request = await begun(engine, flow)
        command = SubmitAnswer(request=request.request_id, value=SOFT, session="s1", epoch=pi.epoch)
        # As a holder that goes between the two commits: recorded, and not judged.
        await asyncio.wrap_future(engine._holder.transitions.command(MODEL, command))
        assert (await state(engine))[0] == "validating"
    async with AsyncEngine.open(tmp_path / "home", workflows=[flow]) as engine:
        assert (await engine.wait(run_id)).output == SOFT
        assert (await engine.submit(request.request_id, SOFT, session="s1", epoch=pi.epoch, caller=MODEL)).adopted
    check_sound(tmp_path / "home")


async def test_who_waits_while_the_engine_closes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The candidate stays recorded; the next engine checks it."""
    started = asyncio.Event()

    async def endless(self: LocalCode, *args: Any) -> Any:
        started.set()
        while not engine._driving.stopping:
            await asyncio.sleep(0.01)
        raise StoreClosed

    monkeypatch.setattr(LocalCode, "answer", endless)
    engine = await AsyncEngine.open(tmp_path / "home")
    pi, _, request = await begun(engine, asking())
    waiting = asyncio.ensure_future(engine.submit(request.request_id, SOFT, session="s1", epoch=pi.epoch, caller=MODEL))
    await started.wait()
    await engine.close()
    with pytest.raises(StoreClosed):
        await waiting


@pytest.mark.parametrize(
    ("error", "counted", "left"),
    [
        (ActivationFailed("loading it in a process of its own"), (0, 1), 5),
        (WorkflowNotFound("asking"), (0, 0), 5),
    ],
)
async def test_a_check_that_died_rejects_the_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, counted: tuple[int, int], left: int
) -> None:
    """It is open again; what failed was not the candidate, and a second death ends the attempt."""
    async with AsyncEngine.open(tmp_path / "home") as engine:
        pi, run_id, request = await begun(engine, asking())

        async def dies(self: LocalCode, *_: Any) -> Any:
            raise error

        with monkeypatch.context() as broken:
            broken.setattr(LocalCode, "answer", dies)
            with pytest.raises(AnswerRejected) as rejected:
                await engine.submit(request.request_id, SOFT, session="s1", epoch=pi.epoch)
            assert rejected.value.left == left
            assert await state(engine) == ("open", *counted)
        await engine.submit(request.request_id, SOFT, session="s1", epoch=pi.epoch)
        assert (await engine.wait(run_id)).status == "completed"


async def test_values_that_json_cannot_carry_are_refused_before_anything(tmp_path: Path) -> None:
    """C56: nothing is recorded of them."""
    async with AsyncEngine.open(tmp_path / "home") as engine:
        pi, _, request = await begun(engine, asking())
        head = engine.reader.log.head()
        for value in ({"word": float("nan")}, {"word": object()}):
            with pytest.raises(InputInvalid, match=r"\$\.word"):
                await engine.submit(request.request_id, value, session="s1", epoch=pi.epoch)
        assert engine.reader.log.head() == head


async def _is(engine: AsyncEngine, wanted: str) -> bool:
    return bool((await state(engine))[0] == wanted)
