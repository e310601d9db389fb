"""S57, S61, C31, C33 over the socket of a host process: turns and messages outlive hosts and adapters."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.client import AsyncClient
from runwright.engine.errors import ConflictError
from support.hosts import Hosted, hosted
from support.socket_session import SocketSession, speaking
from support.sound import check_sound

FLOWS = '''"""Workflows that speak with their session."""

import time

from runwright import Context, JsonObject, Workflow

asks = Workflow("asks", input=JsonObject)
tells = Workflow("tells", input=JsonObject)


@asks.agent(returns=str)
def ask(ctx: Context[JsonObject]) -> str:
    """Ask."""
    return "What is it?"


@tells.compute
def work(ctx: Context[JsonObject]) -> int:
    """A number."""
    return 1


@tells.presentation
def tell(ctx: Context[JsonObject], result: object) -> str:
    """Take a while, in which a host may die."""
    time.sleep(float(str(ctx.input.get("slowly", 0))))
    return "Say it."


asks.entry(ask)
tells.entry(work)
'''


@asynccontextmanager
async def world(tmp_path: Path) -> AsyncIterator[Hosted]:
    """A host, and a project with the workflows; its store is sound when it is left."""
    with hosted(tmp_path) as host:
        (host.project / "flows.py").write_text(FLOWS)
        yield host
    check_sound(tmp_path / "home")


async def start(host: Hosted, pi: SocketSession, workflow: str, **input: Any) -> str:
    """Start a run of the session, and reach its boundary."""
    result = await pi.client.run_start(
        f"flows.py:{workflow}", input, cwd=host.project, project=host.project, session=pi.session
    )
    await pi.settle()
    return result.value


async def restart(host: Hosted) -> None:
    """Kill the host, and start another one."""
    await asyncio.to_thread(host.kill)
    await asyncio.to_thread(host.start_again)


async def rows(client: AsyncClient, projection: str, **equals: Any) -> list[Any]:
    """Rows of a projection."""
    where = [f"{name}={value}" for name, value in equals.items()]
    found: Any = (await client.projection_query(projection, where=where))["items"]
    return list(found)


async def until(client: AsyncClient, run_id: str, **facts: Any) -> dict[str, Any]:
    """Wait until a run's status has these facts."""
    while True:
        found = await client.run_status(run_id)
        if all(found[name] == value for name, value in facts.items()):
            return found
        await asyncio.sleep(0.02)


async def test_s57_a_turn_outlives_hosts_and_ends_at_rest(tmp_path: Path) -> None:
    """S57: neither a new host nor a busy report ends it; rest does, and the next turn is tied to nothing."""
    async with world(tmp_path) as host:
        async with speaking(host.home) as pi:
            run_id = await start(host, pi, "asks")
            message = await pi.receive()
            assert (await pi.begin(message["message"], run_id))["ownership"] == "active"
        await restart(host)
        async with speaking(host.home) as pi:
            assert (await pi.view())["turn"]["state"] == "open"
            await pi.report(message["message"], idle=False)
            assert (await pi.view())["turn"]["state"] == "open"
            await pi.report(message["message"], idle=True)
            assert (await pi.view())["turn"] is None
            assert (await pi.begin(message["message"], run_id))["ownership"] == "absent"
            assert [row["state"] for row in await rows(pi.client, "turns")] == ["lost"]
            assert (await pi.work())["content"]["value"]["runId"] == run_id


@pytest.mark.parametrize("arrived", [True, False])
async def test_s61_sent_vanished_come_back(tmp_path: Path, arrived: bool) -> None:
    """S61: with the entry it is sent and not sent again; without it, only an absence at rest lets it be sent, once."""
    async with world(tmp_path) as host:
        async with speaking(host.home) as pi:
            await start(host, pi, "asks")
            message = (await pi.handed())["message"]
        await restart(host)
        async with speaking(host.home, branch=[message] if arrived else []) as pi:
            await pi.report(message, idle=False)
            (row,) = await rows(pi.client, "messages", message=message)
            assert (row["state"], row["entry"]) == (("sent", f"entry-{message}") if arrived else ("pending", None))
            if not arrived:
                await pi.report(message, idle=True)
                assert (await pi.handed())["message"] == message
                await pi.settle()
            assert (await rows(pi.client, "messages", message=message))[0]["deliveries"] == (1 if arrived else 2)


async def test_c31_an_end_is_told_in_its_own_session_once(tmp_path: Path) -> None:
    """C31: the host dies between the end and its message; another session hears nothing, its own hears it once."""
    branch: list[str] = []
    async with world(tmp_path) as host:
        async with speaking(host.home, "s1") as pi:
            run_id = await start(host, pi, "tells", slowly=2)
            await until(pi.client, run_id, status="completed")
        async with speaking(host.home, "s2") as other:
            assert (await other.client.run_status(run_id))["presentation"]["state"] == "pending"
            for _ in range(2):
                await restart(host)
                await other.attach(rests=True)
                assert (await other.view())["current"] is None
            while (await other.client.run_status(run_id))["presentation"]["state"] == "pending":
                await asyncio.sleep(0.05)
            status = await other.client.run_status(run_id)
            assert (status["presentation"]["state"], status["presentation"]["since"] is None) == ("prepared", False)
            assert (await other.view())["pending"] == 0
        for _ in range(2):
            async with speaking(host.home, "s1", branch=branch) as pi:
                if not branch:
                    assert (await pi.receive())["message"] == f"terminal:{run_id}"
                await pi.settle()
            await restart(host)
        assert branch == [f"terminal:{run_id}"]
        (row,) = await rows_of(host, "messages")
        assert (row["state"], row["session"], row["deliveries"]) == ("sent", "s1", 1)


async def test_c33_a_session_is_reopened_while_its_run_lives(tmp_path: Path) -> None:
    """C33: its facts stand in the log; runs are listed after a restart; who attaches last has it, and nobody else."""
    async with world(tmp_path) as host, speaking(host.home) as first:
        run_id = await start(host, first, "asks")
        message = await first.handed()
        old = first.epoch
        await restart(host)
        async with await AsyncClient.connect(host.home) as person:
            assert [each["run_id"] for each in (await person.run_list(live=True))["items"]] == [run_id]
            assert (await person.run_status(session="s1"))["run_id"] == run_id
        async with speaking(host.home) as second:
            again = await second.receive()
            assert again["message"] == message["message"]
            request = again["content"]["value"]["requestId"]
            for told in (
                lambda: first.client.session_settled("s1", old),
                lambda: first.client.request_submit(request, "x", session="s1", epoch=old),
                lambda: first.client.turn_begun("s1", old, turn="t", message=message["message"], run_id=run_id),
            ):
                with pytest.raises(ConflictError) as fenced:
                    await told()
                assert fenced.value.code == "claim_lost"
            async with await AsyncClient.connect(host.home, client="pi:s2") as foreign:
                epoch = (await foreign.session_attach("s2", agent="tests"))["epoch"]
                with pytest.raises(ConflictError) as refused:
                    await foreign.request_submit(request, "x", session="s2", epoch=epoch)
                assert refused.value.code == "protocol_rejected"
            await second.begin(again["message"], run_id)
            await second.client.request_submit(request, "mine", session="s1", epoch=second.epoch)
            await second.end()
            await until(second.client, run_id, status="completed")
            assert await second.client.run_output(run_id) == "mine"


@pytest.mark.parametrize("gone", ["in the store", "at its agent", "both"])
async def test_c33_a_session_whose_record_is_gone(tmp_path: Path, gone: str) -> None:
    """C33: no run is; who reopens the session has it as it stood, and a parked run is its own session's alone."""
    async with world(tmp_path) as host:
        runs, branch = await left_behind(host)
        await asyncio.to_thread(host.kill)
        if gone != "at its agent":
            with closing(sqlite3.connect(host.home / "log.sqlite", isolation_level=None)) as store:
                assert store.execute("DELETE FROM sessions").rowcount == 2
        if gone != "in the store":
            branch.clear()
        await asyncio.to_thread(host.start_again)
        async with await AsyncClient.connect(host.home) as person:
            listed = {each["run_id"]: each["status"] for each in (await person.run_list(live=True))["items"]}
            assert listed == {runs["s1"]: "running" if gone == "at its agent" else "waiting", runs["s2"]: "paused"}
            missing = (await person.projection_verify())["differences"]
            told = sorted((each["projection"], each["key"]["session"]) for each in missing)
            assert told == ([] if gone == "at its agent" else [("sessions", "s1"), ("sessions", "s2")])
            async with speaking(host.home, "s1", branch=branch) as pi:
                assert (await pi.view())["run_id"] == runs["s1"]
                await answered(pi, runs["s1"])
            await nobody_takes_it_over(host, person, runs["s2"])
            await person.run_resume(runs["s2"])
            async with speaking(host.home, "s2") as pi:
                await answered(pi, runs["s2"])
            await person.projection_rebuild()


async def left_behind(host: Hosted) -> tuple[dict[str, str], list[str]]:
    """A run whose session is in its turn, and a parked one of another session; the branch of the first."""
    runs = {}
    async with speaking(host.home, "s1") as pi:
        runs["s1"] = await start(host, pi, "asks")
        message = await pi.receive()
        await pi.begin(message["message"], runs["s1"])
        branch = list(pi.branch)
    async with speaking(host.home, "s2") as pi:
        runs["s2"] = await start(host, pi, "asks")
        await pi.handed()
        await pi.client.run_pause(runs["s2"])
    return runs, branch


async def answered(pi: SocketSession, run_id: str) -> None:
    """Whatever the session knows of it, the run's question arrives at rest, and its answer ends the run."""
    current = (await pi.next())["current"]
    if current is not None:
        await pi.report(current["message"])
    message = await pi.receive()
    assert message["run_id"] == run_id
    await pi.begin(message["message"], run_id)
    request = message["content"]["value"]["requestId"]
    await pi.client.request_submit(request, "mine", session=pi.session, epoch=pi.epoch)
    await until(pi.client, run_id, status="completed")
    assert await pi.client.run_output(run_id) == "mine"


async def nobody_takes_it_over(host: Hosted, person: AsyncClient, run_id: str) -> None:
    """A new session has no word in a parked run of another, and hears nothing of it."""
    (request,) = (await person.request_list(run_id))["items"]
    async with speaking(host.home, "s9") as other:
        with pytest.raises(ConflictError) as refused:
            await other.client.request_submit(request["request_id"], "x", session="s9", epoch=other.epoch)
        assert refused.value.code == "protocol_rejected"
        await other.settle()
        assert (await other.view())["current"] is None
    assert (await person.run_status(run_id))["status"] == "paused"


async def rows_of(host: Hosted, projection: str) -> list[Any]:
    """Rows, asked by somebody who has just come."""
    async with await AsyncClient.connect(host.home) as client:
        return await rows(client, projection)
