"""Do subscriptions bring everything to who reads, little to who does not, and nothing twice?"""

import asyncio
import itertools
import json
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runwright import ConflictError, Context, Workflow
from runwright.engine.client import AsyncClient
from runwright.engine.host.serving import bounds
from runwright.engine.host.serving.bounds import MOST_SUBSCRIPTIONS
from runwright.eventstore.envelope import ANY, Appended
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.node import NodeUpdated
from runwright.eventstore.transaction import Tx
from support.clients import ended, taken
from support.raw_client import RawClient
from support.serving import Served, served


def loops(rounds: int) -> Workflow[Any]:
    """A workflow that goes round so many times."""
    workflow: Workflow[Any] = Workflow("loops", max_steps=rounds + 10)

    def go_round(ctx: Context[Any]) -> str:
        """Again."""
        return "again" if ctx.visit < rounds else "enough"

    def leave(ctx: Context[Any]) -> int:
        """The end."""
        return rounds

    again = workflow.compute(go_round)
    workflow.entry(again)
    workflow.switch(again, {"again": again, "enough": workflow.compute(leave)})
    return workflow


async def written(host: Served, run_id: str, count: int, size: int) -> None:
    """Append so many updates to a run, each with so many bytes of a value."""
    for first in range(0, count, 500):
        updates = [
            NodeUpdated(path="go_round", visit=1, attempt=1, key="k", number=number, update=Content.json("x" * size))
            for number in range(first, min(first + 500, count))
        ]
        append = partial(_append, f"run/{run_id}", updates)
        await asyncio.wrap_future(host.holder.log.transact(append))


def _append(stream: str, events: Sequence[Event], tx: Tx) -> Appended:
    return tx.append(stream, ANY, events, actor="tests")


async def test_a_view_jumps_over_what_was_overtaken(tmp_path: Path) -> None:
    """Who does not read for a while gets the newest view next, and few in all however much happened."""
    workflow = loops(400)
    async with served(tmp_path / "home", [workflow]) as host:
        run_id = await host.engine.start(workflow, {}, drive=False)
        client = await RawClient.open(host.server.path)
        await client.call("view.subscribe", run_id=run_id)
        assert (await client.reply())["outcome"] == "accepted"
        first = await client.read()
        assert first["kind"] == "view"
        await host.engine.resume(run_id)
        await host.engine.wait(run_id)
        frames = [first]
        while frames[-1]["payload"]["status"]["finished_at"] is None:
            frames.append(await client.read())
        assert len(frames) < 100
        positions = [each["position"] for each in frames]
        assert positions == sorted(set(positions))
        assert frames[-1]["payload"]["status"]["status"] == "completed"
        end = await client.read()
        assert (end["kind"], end["payload"]["code"], end["position"]) == ("end", "finished", positions[-1])
        await client.close()


async def test_a_subscription_resumes_where_it_was(tmp_path: Path) -> None:
    """A view that is known already does not come again; what came after it does."""
    workflow = loops(3)
    async with served(tmp_path / "home", [workflow]) as host:
        run_id = await host.engine.start(workflow, {}, drive=False)
        async with await AsyncClient.connect(host.home) as client:
            views = client.view_subscribe(run_id)
            await taken(views, 1)
            again = client.view_subscribe(run_id, after=views.position)
            waiting = asyncio.create_task(taken(again, 1))
            runs = client.view_subscribe()
            (live,) = await taken(runs, 1)
            assert [each["run_id"] for each in live["items"]] == [run_id]
            assert not waiting.done()
            await host.engine.resume(run_id)
            (view,) = await waiting
            assert again.position > views.position
            assert view["status"]["revision"] > live["items"][0]["revision"]
            await host.engine.wait(run_id)
            async for live in runs:
                if not live["items"]:
                    break


async def test_a_view_of_an_ended_run_comes_once_and_ends(tmp_path: Path) -> None:
    """Nobody waits for what cannot come, whether the last view is known already or not; and others go on."""
    workflow = loops(1)
    async with served(tmp_path / "home", [workflow]) as host:
        run_id = await host.engine.start(workflow, {})
        await host.engine.wait(run_id)
        client = await RawClient.open(host.server.path)
        await client.call("events.subscribe", "all", payload={"after": 10**9})
        assert (await client.reply("all"))["outcome"] == "accepted"
        await client.call("view.subscribe", "one", run_id=run_id)
        assert (await client.reply("one"))["outcome"] == "accepted"
        view, end = await client.read(), await client.read()
        assert (view["kind"], view["payload"]["status"]["status"]) == ("view", "completed")
        assert (end["kind"], end["payload"]["code"], end["position"]) == ("end", "finished", view["position"])
        await client.call("view.subscribe", "again", run_id=run_id, payload={"after": view["position"]})
        assert (await client.reply("again"))["outcome"] == "accepted"
        assert (await client.read())["kind"] == "end"
        await client.call("host.status", "count")
        assert (await client.reply("count"))["answer"]["subscriptions"] == 1
        await client.close()


async def test_a_slow_reader_of_events_loses_none_and_heaps_up_none(tmp_path: Path) -> None:
    """While a client reads nothing, the host holds a few frames for it at most; later it gets every event once."""
    workflow = loops(1)
    async with served(tmp_path / "home", [workflow]) as host:
        run_id = await host.engine.start(workflow, {})
        await host.engine.wait(run_id)
        start = host.holder.log.head().position
        client = await RawClient.open(host.server.path)
        await client.call("events.subscribe", payload={"after": start, "values": True})
        await client.reply()
        await written(host, run_id, 1500, 3_000)
        (connection,) = host.server._connections.values()
        assert connection is not None
        held = connection._writer.transport.get_write_buffer_size()
        assert held < 2**20 + bounds.HIGH_WATER
        got: list[int] = []
        while len(got) < 1500:
            frame = await client.read()
            assert frame["kind"] == "events"
            assert len(json.dumps(frame)) < 2**20
            got += [each["position"] for each in frame["payload"]["items"]]
        assert got == list(range(start + 1, start + 1501))
        await client.close()


async def test_subscriptions_are_bounded_and_replaced(tmp_path: Path) -> None:
    """One connection has so many at most; a new one can take the place of another; its call ID is its own."""
    async with served(tmp_path / "home") as host:
        client = await RawClient.open(host.server.path)
        for number in range(MOST_SUBSCRIPTIONS):
            await client.call("events.subscribe", str(number), payload={"after": 10**9})
            assert (await client.reply(str(number)))["outcome"] == "accepted"
        await client.call("view.subscribe", "late")
        assert (await client.reply("late"))["error"]["code"] == "host_busy"
        await client.close()
        while host.server.connections:
            await asyncio.sleep(0.01)
        client = await RawClient.open(host.server.path)
        await client.call("events.subscribe", "a", payload={"after": 10**9})
        await client.reply("a")
        await client.call("events.subscribe", "a", payload={"after": 10**9})
        assert (await client.reply("a"))["error"]["code"] == "message_invalid"
        await client.call("view.subscribe", "b", payload={"replaces": "a"})
        await client.reply("b")
        await client.call("host.status", "c")
        assert (await client.reply("c"))["answer"]["subscriptions"] == 1
        await client.close()


async def test_nobody_listens_when_nobody_follows(tmp_path: Path) -> None:
    """The thread that hears of commits lives only while somebody follows."""

    def ears() -> list[str]:
        return [each.name for each in threading.enumerate() if each.name == "runwright-commits"]

    async with served(tmp_path / "home") as host:
        assert ears() == []
        client = await RawClient.open(host.server.path)
        await client.call("events.subscribe", payload={"after": 10**9})
        await client.reply()
        while not ears():
            await asyncio.sleep(0.01)
        await client.close()
        while ears():
            await asyncio.sleep(0.01)


async def test_frames_do_not_grow_with_the_history(tmp_path: Path) -> None:
    """Status, view, lists and events of a run with over 10,000 events are as small as those of a young one."""
    workflow = loops(300)
    async with served(tmp_path / "home", [workflow]) as host:
        run_id = await host.engine.start(workflow, {})
        await host.engine.wait(run_id)
        await written(host, run_id, 10_000, 0)
        client = await RawClient.open(host.server.path)
        sizes: dict[str, int] = {}
        for operation in ("run.status", "view.get", "run.list", "events.read"):
            given: dict[str, Any] = {} if operation == "run.list" else {"run_id": run_id}
            await client.call(operation, operation, **given)
            reply = await client.reply(operation)
            assert reply["outcome"] == "accepted"
            sizes[operation] = len(json.dumps(reply))
        assert sizes["run.status"] < 2_500
        assert sizes["run.list"] < 2_500
        assert sizes["view.get"] < 128 * 1024
        assert sizes["events.read"] < 512 * 1024
        await client.close()
        async with await AsyncClient.connect(host.home) as asking:
            view = await ended(asking, run_id)
            timeline = view["timeline"]
            assert timeline["dropped"] + len(timeline["visits"]) == 301
            page = await asking.view_page(run_id, "visits")
            assert (len(page["items"]), page["next"]) == (256, 256)


async def test_pages_hold_the_whole_view(tmp_path: Path) -> None:
    """What a view leaves out is paged; pages of another revision are refused."""
    workflow: Workflow[Any] = Workflow("wide", max_steps=1_000)

    def one(ctx: Context[Any]) -> int:
        """One."""
        return 1

    nodes = [workflow.compute(name=f"node_{number:03}_{'x' * 40}")(one) for number in range(400)]
    workflow.entry(nodes[0])
    for before, after in itertools.pairwise(nodes):
        workflow.then(before, after)
    async with served(tmp_path / "home", [workflow]) as host:
        run_id = await host.engine.start(workflow, {})
        await host.engine.wait(run_id)
        async with await AsyncClient.connect(host.home) as client:
            view = await client.view_get(run_id)
            assert view["nodes_left_out"] > 0
            assert len(view["nodes"]) + view["nodes_left_out"] == 400
            # Those at work last are kept, in the order of the graph.
            assert view["nodes"][-1]["node"] == nodes[-1].key
            assert len(await paged(client, run_id, "nodes")) == 400
            assert len(await paged(client, run_id, "edges")) == 399
            assert len(await paged(client, run_id, "visits")) == 400
            assert await paged(client, run_id, "mounts") == []
            with pytest.raises(ConflictError) as moved:
                await client.view_page(run_id, "nodes", revision=1)
            assert moved.value.code == "revision_changed"


async def paged(client: AsyncClient, run_id: str, part: Any) -> list[Any]:
    """Every item of a part of a run's view."""
    items: list[Any] = []
    place, revision = 0, None
    while place is not None:
        page = await client.view_page(run_id, part, after=place, revision=revision)
        items += page["items"]
        place, revision = page["next"], page["revision"]
    return items
