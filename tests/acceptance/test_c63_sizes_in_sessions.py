"""C63: with 10,000 messages of 300 KiB in line a session's view stays small, and a delivery costs what it did."""

import os
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from attrs import frozen

from runwright.engine.client import AsyncClient, async_client
from runwright.engine.client.connect import place_of
from runwright.engine.embedded.holder import Holder
from runwright.engine.transitions.conversation import MOST_COUNTED
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.message import MessageQueued
from support.hosts import Hosted, hosted
from support.relays import Relay
from support.socket_session import SocketSession
from support.sound import check_sound
from support.stores import appending

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))

#: Messages in line for the session, and for the one that it is compared with.
MANY = 10_000
FEW = 80
#: How many of either are delivered, each with a large prompt. A depth of 200 delivers all: 3 GB, some ten minutes.
OF_MANY = min(MANY, round(50 * DEPTH))
OF_FEW = 20
PROMPT = 300 * 1024
#: The most bytes of a frame that shows a session.
VIEW = 64 * 1024

FLOW = '''"""Asks a person, its session, and a person once more."""

from runwright import Context, JsonObject, Workflow

talks = Workflow("talks", input=JsonObject)


@talks.decision(choices=["yes", "no"])
def ship(ctx: Context[JsonObject]) -> str:
    """Ask a person."""
    return "Ship it?"


@talks.agent(returns=str)
def ask(ctx: Context[JsonObject]) -> str:
    """Ask the session."""
    return "What is it?"


@talks.checkpoint(summary="The last word", returns=str)
def check(ctx: Context[JsonObject]) -> str:
    """Ask a person."""
    return "Right?"


@talks.decision(choices=["yes", "no"])
def end(ctx: Context[JsonObject]) -> str:
    """Ask a person."""
    return "Enough?"


talks.entry(ship)
talks.then(ship, ask)
talks.then(ask, check)
talks.then(check, end)
'''


@frozen
class Delivery:
    """One delivery: its seconds, and the host's ticks of CPU."""

    seconds: float
    ticks: int


@pytest.mark.timeout(120 + OF_MANY // 4)
async def test_c63_a_session_stays_small_however_much_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No view of it has 64 KiB, nobody connects again, each prompt comes whole, and none costs more than another."""
    with hosted(tmp_path) as host:
        (host.project / "flow.py").write_text(FLOW)
        runs = {session: _asked(host, session) for session in ("few", "many")}
        host.kill()
        _queued(host.home, "few", runs["few"], FEW, large=OF_FEW)
        _queued(host.home, "many", runs["many"], MANY, large=OF_MANY)
        host.start_again()
        few = await _play(host, monkeypatch, "few", OF_FEW, left=FEW - OF_FEW)
        before = _memory(host.pid)
        many = await _play(host, monkeypatch, "many", OF_MANY, left=MANY - OF_MANY)
        grown = _memory(host.pid) - before
        assert grown < 64, f"the host grew by {grown} MiB"
        _compare(few, many)
        await _steered(host, runs["many"])
    check_sound(tmp_path / "home")


def _asked(host: Hosted, session: str) -> str:
    """A run of a session that waits for a person."""
    started = host.client.run_start("flow.py:talks", {}, cwd=host.project, project=host.project, session=session)
    host.client.session_attach(session, agent="scripted", idle=True, nothing_pending=True)
    host.until(started.value, lambda status: status["status"] == "waiting")
    return started.value


def _queued(home: Path, session: str, run_id: str, many: int, *, large: int) -> None:
    """Have as many messages of a run wait, the first ones with a large prompt; each differs from all others."""
    holder = Holder.open(home)
    try:
        for first in range(0, many, 50):
            told = [_message(session, run_id, number, number < large) for number in range(first, min(first + 50, many))]
            holder.log.transact(appending(f"run/{run_id}", *told)).result()
    finally:
        holder.close()


def _message(session: str, run_id: str, number: int, large: bool) -> MessageQueued:
    return MessageQueued(
        message=f"notification:{run_id}:{number}",
        kind="notification",
        session=session,
        order=number + 2,
        source=run_id,
        starts_turn=False,
        content=Content.json({"n": number}),
        text=Content.text(_prompt(number) if large else "x"),
    )


def _prompt(number: int) -> str:
    return f"é{number:06}" * (PROMPT // 8)


@asynccontextmanager
async def _measured(host: Hosted, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Relay]:
    """Everything between the host and who connects from now on goes through a relay."""
    place = place_of(host.home)
    assert place is not None
    relay = Relay(path=host.project / "relay.sock", host=place)
    await relay.open()
    with monkeypatch.context() as patched:
        patched.setattr(async_client, "place_of", lambda _: relay.path)
        yield relay
    await relay.close()


async def _play(host: Hosted, monkeypatch: pytest.MonkeyPatch, session: str, many: int, *, left: int) -> list[Delivery]:
    """Have messages delivered as an adapter does, and their prompts read; what each took."""
    found = []
    async with (
        _measured(host, monkeypatch) as relay,
        await AsyncClient.connect(host.home, client=f"pi:{session}") as client,
    ):
        pi = await SocketSession(client, session).attach(rests=True)
        await pi.receive()  # what the run asks a person stands before all of them
        for number in range(many):
            since, ticks = time.perf_counter(), _ticks(host.pid)
            current = await pi.receive()
            assert current["message"].endswith(f":{number}")
            assert not current["text"]["inline"]
            assert await client.content_read(current["text"]) == _prompt(number)
            found.append(Delivery(time.perf_counter() - since, _ticks(host.pid) - ticks))
        assert (await pi.view())["pending"] == min(left, MOST_COUNTED)
        await pi.close()
    assert relay.connections == 2, "one asks, one follows, and neither is ever lost"
    shown = [*relay.frames["view.subscribe"], *relay.frames["view.get"]]
    assert len(relay.frames["view.subscribe"]) > 2 * many
    assert max(shown) < VIEW, max(shown)
    assert max(max(each) for each in relay.frames.values()) < 1024 * 1024
    print(f"\n{session}: {len(shown)} views of at most {max(shown)} bytes; the host holds {_memory(host.pid)} MiB")
    return found


def _compare(few: list[Delivery], many: list[Delivery]) -> None:
    """A delivery costs the same with few in line as with many, and the last of many what the first did."""
    window = max(50, len(many) // 20)
    middle = (len(many) - window) // 2
    parts = [many[:window], many[middle : middle + window], many[-window:]]
    for each in (few, *parts):
        print(f"{_milliseconds(each):6.1f} ms, {_cpu(each):6.2f} ticks of CPU")
    for each in parts:
        # In CPU, which other work on the machine does not touch; a tick is coarse where few are delivered.
        assert _cpu(each) <= _cpu(few) * 1.5 + 10 / len(each), (few, each)


def _milliseconds(found: list[Delivery]) -> float:
    return statistics.median(each.seconds for each in found) * 1000


def _cpu(found: list[Delivery]) -> float:
    return sum(each.ticks for each in found) / len(found)


async def _steered(host: Hosted, run_id: str) -> None:
    """Deciding, submitting, answering and cancelling work as ever."""
    client = host.client
    client.request_decide(_request(host, run_id, "decision"), "yes", by="Ada")
    epoch = client.session_attach("many", agent="scripted")["epoch"]
    request = _request(host, run_id, "agent")
    async with await AsyncClient.connect(host.home, client="pi:many") as model:
        await model.request_submit(request, "It is.", session="many", epoch=epoch)
    answered = client.request_answer(_request(host, run_id, "checkpoint"), "Right.")
    child = host.status(run_id)["continued_by"]
    assert answered.value == child
    _request(host, child, "decision")
    client.run_cancel(child)
    assert host.status(child)["status"] == "cancelled"


def _request(host: Hosted, run_id: str, kind: str) -> str:
    """The request that a run waits with, once it has come to it."""
    waits = host.until(run_id, lambda status: [each["kind"] for each in status["requests"]] == [kind])
    return str(waits["requests"][0]["request_id"])


def _memory(pid: int) -> int:
    """What a process holds of the memory, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def _ticks(pid: int) -> int:
    """The CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
