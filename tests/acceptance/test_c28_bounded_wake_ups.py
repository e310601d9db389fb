"""C28: an agent that never gets anywhere is not woken for ever, whatever hosts and adapters come and go."""

import asyncio
from pathlib import Path

from runwright.engine.client import AsyncClient
from support.hosts import Hosted, hosted
from support.socket_session import SocketSession, speaking
from support.sound import check_sound

FLOW = '''"""Asks its session."""

from runwright import Context, JsonObject, Workflow

asks = Workflow("asks", input=JsonObject)


@asks.agent(returns=str)
def ask(ctx: Context[JsonObject]) -> str:
    """Ask."""
    return "What is it?"


asks.entry(ask)
'''


async def test_c28_the_tenth_wake_up_is_the_last(tmp_path: Path) -> None:
    """Whatever hosts are killed and adapters attach anew; then runs ask, and wake nobody until somebody speaks."""
    woken = []
    with hosted(tmp_path) as host:
        (host.project / "flow.py").write_text(FLOW)
        for number in range(3):
            async with speaking(host.home) as pi:
                woken += [await _asked(host, pi) for _ in range(4)]
                assert (await pi.view())["wake_ups"] == min(10, 4 * number + 4)
            await asyncio.to_thread(host.kill)
            await asyncio.to_thread(host.start_again)
        assert woken == [True] * 10 + [False] * 2
        async with speaking(host.home) as pi:
            assert await _asked(host, pi) is False
            await pi.settle(spoke=True)
            assert (await pi.view())["wake_ups"] == 0
            assert await _asked(host, pi) is True
    check_sound(tmp_path / "home")


async def _asked(host: Hosted, pi: SocketSession) -> bool:
    """Whether the question of a new run wakes the session; its agent gets nowhere, and a person cancels it."""
    async with await AsyncClient.connect(host.home, client="cli") as person:
        started = await person.run_start("flow.py:asks", {}, cwd=host.project, project=host.project, session=pi.session)
        await pi.settle()
        while (message := await pi.receive())["kind"] != "step":
            assert not message["starts_turn"], "it only says how the last run ended"
        assert message["run_id"] == started.value
        await person.run_cancel(started.value)
    return bool(message["starts_turn"])
