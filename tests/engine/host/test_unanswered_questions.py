"""Functions that a host asks about and that never answer: each question ends by name, and everything else goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.client import AsyncClient
from runwright.engine.errors import ActivationFailed, AnswerRejected, ConflictError
from support.command_processes import LIMIT
from support.hosts import Hosted, hosted, left_of, wait
from support.socket_session import SocketSession, speaking

FLOWS = '''
"""Functions that do not come back, wherever a host asks for them; once they are mended they do."""
import os
import time

from attrs import field, frozen

from runwright import Context, JsonObject, Workflow


def asked(how: str) -> None:
    with open("asked", "a") as ledger:
        ledger.write(".")
    if os.path.exists("mended"):
        return
    while how == "spin":
        pass
    while how == "sleep":
        time.sleep(600)
    while how == "gate" and not os.path.exists("mended"):
        time.sleep(0.01)
    if how == "die":
        os._exit(9)


@frozen
class Value:
    how: str = field(validator=lambda _self, _field, value: asked(value))


quick = Workflow("quick")
takes = Workflow("takes", input=Value)
bounds = Workflow("bounds", timeout=lambda ctx: asked(ctx.input["how"]) or 600)
asks = Workflow("asks")
pays = Workflow("pays")
tells = Workflow("tells")


@quick.compute
def one(ctx: Context[JsonObject]) -> int:
    return 1


@takes.compute
def first(ctx: Context[Value]) -> int:
    return 1


@bounds.compute
def second(ctx: Context[JsonObject]) -> int:
    return 1


def valid(ctx: Context[JsonObject], value: str) -> None:
    asked(value)
    if value == "half":
        raise ValueError("there is no file caf\\udce9")


@asks.agent(returns=str, validate=valid)
def ask(ctx: Context[JsonObject]) -> str:
    return "What?"


def parse(result: object) -> int:
    asked(result.stdout)
    return 1


@pays.shell(recovery="manual", parse=parse)
def pay(ctx: Context[JsonObject]) -> list[str]:
    return ["sh", "-c", "kill -9 $PPID; sleep 600"]


@tells.compute
def work(ctx: Context[JsonObject]) -> int:
    return 1


@tells.presentation
def tell(ctx: Context[JsonObject], result: object) -> str:
    asked(ctx.input["how"])
    return "Say it."


for flow, node in ((quick, one), (takes, first), (bounds, second), (asks, ask), (pays, pay), (tells, work)):
    flow.entry(node)
'''

#: What came of a question, by what its function did.
ENDS = {"spin": "within 1 seconds", "sleep": "within 1 seconds", "die": "in a process of its own"}
HOW = pytest.mark.parametrize("how", ["spin", "die"])


@asynccontextmanager
async def world(tmp_path: Path, *, resolve: float = 1.0) -> AsyncIterator[tuple[Hosted, AsyncClient]]:
    """A host that is patient with a question for a second, and a client of it."""
    with hosted(tmp_path, capacity=2, resolve=resolve) as at:
        (at.project / "flows.py").write_text(FLOWS)
        async with asyncio.timeout(LIMIT), await AsyncClient.connect(at.home, start=False) as client:
            yield at, client


async def start(at: Hosted, client: AsyncClient, flow: str, **more: Any) -> str:
    """Start a run."""
    value = more.pop("value", {})
    result = await client.run_start(f"flows.py:{flow}", value, cwd=at.project, project=at.project, **more)
    return result.value


async def until(client: AsyncClient, run_id: str, **facts: Any) -> dict[str, Any]:
    """Wait until a run's status has these facts."""
    while True:
        found = await client.run_status(run_id)
        if all(found[name] == value for name, value in facts.items()):
            return found
        await asyncio.sleep(0.01)


async def begun(at: Hosted, count: int = 1) -> None:
    """Wait until the function was asked so often."""
    while not (at.project / "asked").exists() or len((at.project / "asked").read_text()) < count:
        await asyncio.sleep(0.01)


async def beside(at: Hosted, client: AsyncClient) -> None:
    """Everything else goes on: status, a start with a whole run, a cancel."""
    assert (await client.host_status())["state"] == "serving"
    await until(client, await start(at, client, "quick"), status="completed")
    other = await start(at, client, "asks", agents={"default": "console"})
    await client.run_cancel(other)
    assert (await client.run_status(other))["status"] == "cancelled"


async def nothing_left(at: Hosted) -> None:
    """Wait until no process of the project is left."""
    await asyncio.to_thread(wait, lambda: left_of(at.project) == [])


@pytest.mark.parametrize(
    ("which", "how"), [("takes", "spin"), ("takes", "sleep"), ("takes", "die"), ("bounds", "spin")]
)
async def test_a_start_whose_check_never_returns_is_refused_without_a_trace(
    tmp_path: Path, which: str, how: str
) -> None:
    """The class of the input, or the function of the run's own limit."""
    async with world(tmp_path) as (at, client):
        starting = asyncio.ensure_future(start(at, client, which, value={"how": how}))
        await begun(at)
        async with await AsyncClient.connect(at.home, start=False) as other:
            await beside(at, other)
        with pytest.raises(ActivationFailed) as refused:
            await starting
        assert refused.value.message.endswith(f": loading it and checking its input {ENDS[how]} failed.")
        assert which not in {each["workflow"] for each in (await client.run_list())["items"]}
        await nothing_left(at)


@HOW
async def test_an_answer_whose_check_never_returns_leaves_its_question_open(tmp_path: Path, how: str) -> None:
    """At somebody's terminal; the mended function then takes it."""
    async with world(tmp_path) as (at, client):
        run_id = await start(at, client, "asks", agents={"default": "console"})
        request = (await until(client, run_id, status="waiting"))["requests"][0]["request_id"]
        answering = asyncio.ensure_future(client.request_answer(request, how))
        await begun(at)
        async with await AsyncClient.connect(at.home, start=False) as other:
            await beside(at, other)
        with pytest.raises(ActivationFailed) as refused:
            await answering
        assert refused.value.message.endswith(f": loading it and checking the answer {ENDS[how]} failed.")
        assert (await client.run_status(run_id))["status"] == "waiting"
        await nothing_left(at)
        (at.project / "mended").touch()
        await client.request_answer(request, how)
        await until(client, run_id, status="completed")


@HOW
async def test_an_operators_word_whose_parsing_never_returns_changes_nothing(tmp_path: Path, how: str) -> None:
    """The effect stays ambiguous; the mended function then takes the word."""
    async with world(tmp_path) as (at, client):
        run_id = await start(at, client, "pays")
        while ((await client.run_status(run_id))["reason"] or {}).get("code") != "effect_ambiguous":
            await asyncio.sleep(0.01)
        effect = (await client.projection_query("effects"))["items"][0]["effect"]
        word: Any = {"result": {"stdout": how}, "reason": "seen"}
        resolving = asyncio.ensure_future(client.effect_resolve(effect, "done", **word))
        await begun(at)
        async with await AsyncClient.connect(at.home, start=False) as other:
            await beside(at, other)
        with pytest.raises(ActivationFailed) as refused:
            await resolving
        assert refused.value.message.endswith(f": loading it and checking the result {ENDS[how]} failed.")
        assert (await client.run_status(run_id))["reason"]["code"] == "effect_ambiguous"
        (at.project / "mended").touch()
        await client.effect_resolve(effect, "done", **word)
        await until(client, run_id, status="completed")


async def asked_in_session(at: Hosted, pi: SocketSession) -> tuple[str, str]:
    """A run of a session that asks its agent; the run and the request."""
    run_id = await start(at, pi.client, "asks", session=pi.session)
    await pi.settle()
    message = await pi.receive()
    await pi.begin(message["message"], run_id)
    return run_id, (await pi.client.request_list(run_id))["items"][0]["request_id"]


@HOW
async def test_a_candidate_whose_check_never_returns_is_refused_and_the_second_ends_the_attempt(
    tmp_path: Path, how: str
) -> None:
    """A resolver that dies rejects the candidate; the host itself does not care."""
    async with world(tmp_path) as (at, client), speaking(at.home) as pi:
        run_id, request = await asked_in_session(at, pi)
        for count in (1, 2):
            submitting = asyncio.ensure_future(
                pi.client.request_submit(request, how, session=pi.session, epoch=pi.epoch)
            )
            await begun(at, count)
            await beside(at, client)
            with pytest.raises(AnswerRejected) as refused:
                await submitting
            assert refused.value.code == "worker_crashed"
            assert f"checking the answer {ENDS[how]} failed." in refused.value.message
            assert ".." not in refused.value.message
        status = await until(client, run_id, status="failed")
        assert status["error"]["code"] == "validation_failed"
        await nothing_left(at)


async def test_a_refusal_that_utf8_cannot_carry_is_no_crash(tmp_path: Path) -> None:
    """It reaches the model as far as it can be told, and counts as a refusal."""
    async with world(tmp_path) as (at, _), speaking(at.home) as pi:
        _, request = await asked_in_session(at, pi)
        with pytest.raises(AnswerRejected, match=r"there is no file caf\\udce9") as refused:
            await pi.client.request_submit(request, "half", session=pi.session, epoch=pi.epoch)
        assert refused.value.code == "validation_failed"


async def test_a_run_is_cancelled_while_its_candidate_is_checked_for_ever(tmp_path: Path) -> None:
    """The check comes to nothing, and whoever submitted hears at once that it came too late: no check is waited for."""
    async with world(tmp_path, resolve=10 * LIMIT) as (at, client), speaking(at.home) as pi:
        run_id, request = await asked_in_session(at, pi)
        submitting = asyncio.ensure_future(
            pi.client.request_submit(request, "gate", session=pi.session, epoch=pi.epoch)
        )
        await begun(at)
        await client.run_cancel(run_id)
        assert (await client.run_status(run_id))["status"] == "cancelled"
        async with asyncio.timeout(LIMIT):
            with pytest.raises(ConflictError, match=r"closed \(cancelled\)"):
                await submitting
        (at.project / "mended").touch()
        await nothing_left(at)


async def test_a_host_that_stops_does_not_wait_for_a_check_that_never_ends(tmp_path: Path) -> None:
    """What was recorded is checked anew by the next one, and whoever waits hears that verdict."""
    async with world(tmp_path, resolve=LIMIT) as (at, client), speaking(at.home) as pi:
        run_id, request = await asked_in_session(at, pi)
        submitting = asyncio.ensure_future(
            pi.client.request_submit(request, "spin", session=pi.session, epoch=pi.epoch)
        )
        await begun(at)
        await client.host_stop(grace=0.2)
        await nothing_left(at)
        assert await client.gone(LIMIT)
        (at.project / "mended").touch()
        await asyncio.to_thread(at.start_again)
        await submitting
        await until(client, run_id, status="completed")


@HOW
async def test_a_presentation_that_never_returns_changes_no_end_and_is_tried_again(tmp_path: Path, how: str) -> None:
    """The failure says what was asked, and the mended function tells."""
    async with world(tmp_path) as (at, client), speaking(at.home) as pi:
        run_id = await start(at, pi.client, "tells", value={"how": how}, session=pi.session)
        await pi.settle()
        await begun(at)
        assert (await client.run_status(run_id))["status"] == "completed"
        await beside(at, client)
        while (await client.run_status(run_id))["presentation"]["state"] != "failed":
            await asyncio.sleep(0.01)
        events = (await client.events_read(run_id))["items"]
        failed = next(each for each in events if each["type"] == "presentation.failed")
        assert failed["data"]["code"] == "activation_failed"
        assert failed["data"]["reason"].endswith(f": working out its presentation {ENDS[how]} failed.")
        (at.project / "mended").touch()
        while (await client.run_status(run_id))["presentation"]["state"] != "prepared":
            await asyncio.sleep(0.01)
        await nothing_left(at)
