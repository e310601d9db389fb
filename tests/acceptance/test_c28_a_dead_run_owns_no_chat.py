"""C28: a provider outage, a run that ends meanwhile, a reconnect and ordinary chat: at random, and in every order."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from runwright.engine.commands.client import CancelRun, QueueRun
from runwright.engine.commands.host import FireTimer, PresentRun, TimeOutRun
from runwright.engine.commands.session import AttachSession, ReportSession, ReportTurn, TurnEnd
from runwright.engine.commands.worker import AskSession, StartNode
from runwright.engine.errors import ConflictError
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.runs import RUNS
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.turns import TURNS
from support.conversing import asks, check_once, rows
from support.graphs import graph, node
from support.scripted_session import ScriptedSession, owned
from support.serving import Served, served
from support.socket_session import SocketSession, speaking
from support.sound import check_sound
from support.stage import Stage, queue_command, settled, stage

FLOW = graph(node("ask", "agent"))
ORDERS = 50


@pytest.fixture
def scene(home: Path) -> Iterator[Stage]:
    """A stage over a new log."""
    with stage(home) as each:
        yield each


def asked(scene: Stage, run_id: str) -> ScriptedSession:
    """A session of its own whose run has put its step to it, and whose first two turns ended in an error."""
    pi = ScriptedSession(scene, f"session-{run_id}")
    scene.queue(FLOW, run_id, session=pi.session, timeout=3_600_000_000)
    pi.settle()
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="p", contract=None)
    scene.applied(scene.claim(run_id), StartNode(path="ask", visit=1, attempt=1), ask)
    for _ in range(2):
        pi.work("error", run=run_id)
        scene.host(FireTimer(run_id=run_id, kind="delivery"))
    return pi


def test_c28_a_dead_run_owns_no_later_chat(scene: Stage) -> None:
    """Its turns end with it, late reports are settled or nobody's, and what a person types later belongs to no run."""
    chance, last = random.Random(28), Counter[str]()
    for number in range(ORDERS):
        run_id = f"run-{number}"
        pi = asked(scene, run_id)
        third = pi.receive().message
        pi.begin(third, run=run_id, turn=f"third-{number}")
        answers = race(chance, words(scene, pi, run_id, third, f"third-{number}", chance))
        for answer in answers:
            assert isinstance(answer, Applied | Adopted | Conflict), answer
            assert "UNIQUE" not in str(answer)
            assert "sqlite" not in str(answer).lower()
        run = scene.row(RUNS, run_id)
        assert run.status in ("timed_out", "cancelled")
        assert scene.rows(TURNS, run_id=run_id, state="open") == []
        last[scene.row(TURNS, f"third-{number}").state] += 1
        chat(scene, pi, run_id, third)
    assert set(last) == {"ended", "lost"}, "either word came first, now and then"


def words(
    scene: Stage, pi: ScriptedSession, run_id: str, message: str, turn: str, chance: random.Random
) -> list[Callable[[], "Future[Any]"]]:
    """What comes in at once: the third error, the run's end, evidence of the message, another coordinator."""
    facts: dict[str, Any] = {"session": pi.session, "epoch": pi.epoch}
    end = ReportTurn(turn=turn, message=message, run=run_id, ended=TurnEnd(stop_reason="error"), **facts)
    report = ReportSession(message=message, entry="e", idle=True, nothing_pending=True, **facts)
    caller, transitions = scene.caller(), scene.transitions
    ends: list[Callable[[], Future[Any]]] = [
        lambda: transitions.host(TimeOutRun(run_id=run_id)),
        lambda: transitions.command(caller, CancelRun(run_id=run_id)),
    ]
    told: list[Callable[[], Future[Any]]] = [
        lambda: transitions.session(end),
        chance.choice(ends),
        lambda: transitions.session(report),
    ]
    if chance.random() < 0.5:
        told.append(lambda: transitions.session(AttachSession(session=pi.session, agent="pi")))
    return told


def race(chance: random.Random, told: list[Callable[[], "Future[Any]"]]) -> list[Any]:
    """Hand words in in any order, now at once and now one after another."""
    chance.shuffle(told)
    futures = []
    for word in told:
        futures.append(word())
        if chance.random() < 0.5:
            settled(futures[-1])
    return [settled(each) for each in futures]


def chat(scene: Stage, pi: ScriptedSession, run_id: str, message: str) -> None:
    """The adapter reconnects and rests; a turn that a person typed is no run's, and the session is free."""
    pi.attach()
    pi.settle()
    before = len(scene.rows(TURNS))
    assert owned(pi.begin(message, run=run_id)) == "absent"
    assert owned(pi.end(message, run=run_id)) == "absent"
    assert len(scene.rows(TURNS)) == before
    pi.report(spoke=True)
    assert scene.row(SESSIONS, pi.session).wake_ups == 0
    scene.host(PresentRun(run_id=run_id))
    again: QueueRun = queue_command(FLOW, f"{run_id}-again", session=pi.session)
    assert isinstance(scene.ask(again), Applied)


# --- over the socket ----------------------------------------------------------------------------------------------

#: What comes in about the third turn, in every order.
WORDS = ("its end", "the run's end", "evidence", "reconnect")


@frozen
class Outage:
    """A session over the socket whose run's third turn goes on, after two that ended in an error.

    Attributes:
        host: The host.
        pi: The session's adapter.
        run_id: The run.
        message: What the third turn answers.
    """

    host: Served
    pi: SocketSession
    run_id: str
    message: str

    def words(self, end: str) -> Mapping[str, Callable[[], Awaitable[object]]]:
        """What may come in, by name; the run ends as its person or its time limit has it."""
        ends: dict[str, Callable[[], Awaitable[object]]] = {
            "cancelled": lambda: self.host.engine.cancel(self.run_id),
            "timed_out": lambda: asyncio.wrap_future(self.host.holder.transitions.host(TimeOutRun(run_id=self.run_id))),
        }
        return {
            "its end": lambda: self.pi.end("error"),
            "the run's end": ends[end],
            "evidence": lambda: self.pi.report(self.message, idle=True),
            "reconnect": lambda: self.pi.attach(rests=True),
        }


async def third_turn(host: Served, pi: SocketSession, workflow: Any) -> Outage:
    """Two provider errors, each with its pause, and a third turn that goes on."""
    run_id = await host.engine.start(workflow, {}, session=pi.session)
    await pi.settle()
    for _ in range(2):
        await pi.work("error")
        await asyncio.wrap_future(host.holder.transitions.host(FireTimer(run_id=run_id, kind="delivery")))
    message = await pi.receive()
    assert (await pi.begin(message["message"], run_id))["ownership"] == "active"
    return Outage(host, pi, run_id, message["message"])


async def come_in(told: Sequence[Callable[[], Awaitable[object]]], *, at_once: bool) -> None:
    """Say words in an order, each after the one before or all at once; a refusal is one in our own words."""
    if at_once:
        answers = await asyncio.gather(*(word() for word in told), return_exceptions=True)
    else:
        answers = [(await asyncio.gather(word(), return_exceptions=True))[0] for word in told]
    for answer in answers:
        assert not isinstance(answer, BaseException) or isinstance(answer, ConflictError), answer
        assert "sql" not in str(answer).lower()
        assert "UNIQUE" not in str(answer)


async def chat_on(outage: Outage, end: str) -> None:
    """The run is over and owns nothing: its turns have ended or are lost, and what a person types is nobody's."""
    pi, run_id = outage.pi, outage.run_id
    assert (await outage.host.engine.status(run_id)).status == end
    await pi.attach(rests=True)
    turns = await rows(pi, "turns", session=pi.session)
    assert [row["run_id"] for row in turns] == [run_id] * 3
    assert [row["state"] for row in turns[:2]] == ["ended"] * 2
    assert turns[2]["state"] in ("ended", "lost")
    assert (await pi.begin(outage.message, run_id))["ownership"] == "absent"
    await pi.settle(spoke=True)
    assert await rows(pi, "turns", session=pi.session) == turns
    view = await pi.view()
    assert (view["run_id"], view["turn"], view["wake_ups"]) == (None, None, 0)


@pytest.mark.parametrize("at_once", [False, True], ids=["in order", "at once"])
@pytest.mark.parametrize("end", ["cancelled", "timed_out"])
async def test_c28_in_every_order_over_the_socket(tmp_path: Path, end: str, at_once: bool) -> None:
    """The third error, the end of the run, late evidence and a reconnect, as an adapter and a host tell each other."""
    workflow = asks("ask")
    async with served(tmp_path / "home", [workflow]) as host:
        for number, order in enumerate(itertools.permutations(WORDS)):
            async with speaking(host.home, f"s{number}") as pi:
                outage = await third_turn(host, pi, workflow)
                words = outage.words(end)
                await come_in([words[each] for each in order], at_once=at_once)
                await chat_on(outage, end)
        await check_once(host)
    check_sound(tmp_path / "home")
